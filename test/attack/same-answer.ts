import { isDeepStrictEqual } from 'node:util';
import type { SentAnswer } from '../fuzz/client.js';
import type { FuzzRequest } from '../fuzz/requests.js';
import { anyOrder, keepsOrder, type LogStream } from '../watch/any-order.js';

/** Headers that clients and intermediate caches act on. */
const compared = [
  'content-type',
  'content-encoding',
  'vary',
  'cache-control',
  'location',
  'x-content-type-options',
  'warning',
  'retry-after',
  'www-authenticate',
];

/**
 * The difference between an answer and that of a control; undefined if they are equivalent. Query statistics and the order of series may
 * differ.
 */
export function differenceOf(
  answer: SentAnswer,
  control: SentAnswer,
  { params }: Pick<FuzzRequest, 'params'>,
  isOrdered = keepsOrder,
): string | undefined {
  if (answer.status !== control.status) return `status ${answer.status} for ${control.status}`;
  for (const name of compared)
    if (answer.headers[name] !== control.headers[name])
      return `${name}: ${String(answer.headers[name])} for ${String(control.headers[name])}`;
  if (answer.text === control.text) return undefined;
  const limit = isOrdered ? undefined : Number(params.find(([name]) => name === 'limit')?.[1] ?? 100);
  const [is, should] = [answer, control].map(({ text }) => meaningOf(text, limit));
  if (isDeepStrictEqual(is, should)) return undefined;
  return `body ${shortened(answer.text, control.text)}`;
}

/** @param limit set if lines with the same timestamp may have any order */
function meaningOf(text: string, limit: number | undefined): unknown {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return text;
  }
  if (!isObject(body)) return body;
  const { data } = body;
  if (!isObject(data)) return Array.isArray(data) ? { ...body, data: sorted(data) } : body;
  const { result, resultType } = data;
  if (!Array.isArray(result)) return { ...body, data: { ...data, stats: undefined } };
  const isFree = limit !== undefined && resultType === 'streams';
  // Parse the entries as clients do.
  const meant = { result: isFree ? anyOrder(result as readonly LogStream[], limit) : sorted(result) };
  return { ...body, data: { ...data, ...meant, stats: undefined } };
}

function sorted(items: readonly unknown[]): readonly string[] {
  return items.map((item) => JSON.stringify(item)).sort();
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The first difference between two texts. */
function shortened(text: string, control: string): string {
  let at = 0;
  while (at < text.length && text[at] === control[at]) at += 1;
  const from = Math.max(0, at - 60);
  return `at ${at}: ${text.slice(from, at + 120)} for ${control.slice(from, at + 120)}`;
}
