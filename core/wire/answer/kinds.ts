import type { Answer, AnswerKind } from './types.js';

type PartsOf<Kind extends AnswerKind> = readonly Exclude<
  keyof Extract<Answer, { readonly kind: Kind }>,
  'kind'
>[];

/** Every kind of answer with its required members, to check answers that were not type-checked. */
const partsByKind: { readonly [Kind in AnswerKind]: PartsOf<Kind> } = {
  streams: ['streams', 'stats'],
  matrix: ['series', 'stats'],
  vector: ['samples', 'stats'],
  scalar: ['point', 'stats'],
  names: ['values'],
  series: ['series'],
  'index-stats': ['streams', 'chunks', 'bytes', 'entries'],
  formatted: ['query'],
  tenant: ['tenant'],
  several: ['answers'],
  encoded: ['status', 'contentType', 'headers', 'body'],
  volume: ['series', 'stats'],
  'detected-fields': ['fields'],
  'detected-field-values': ['values'],
  'detected-labels': ['labels'],
  patterns: ['patterns'],
  shards: ['shards'],
  live: ['history', 'events'],
};
const known = new Map<unknown, readonly string[]>(Object.entries(partsByKind));

/** The reason why a value is not an answer, such as `undefined` or `an answer of the unknown kind "rows"`; undefined for an answer. */
export function answerFault(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null)
    return value === undefined || value === null ? String(value) : `a ${typeof value}`;
  if (!('kind' in value)) return 'an object without a kind';
  const parts = known.get(value.kind);
  if (parts === undefined)
    return `an answer of the unknown kind ${typeof value.kind === 'string' ? `"${value.kind}"` : `(a ${typeof value.kind})`}`;
  const missing = parts.find((part) => Reflect.get(value, part) === undefined);
  return missing === undefined
    ? undefined
    : `an answer of the kind "${String(value.kind)}" without "${missing}"`;
}
