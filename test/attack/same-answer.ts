import { isDeepStrictEqual } from 'node:util';
import type { SentAnswer } from '../fuzz/client.js';

/** Headers that clients and caches between act upon. */
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

/** How an answer differs from that of a control; undefined where both say the same. Figures of the run, and the order of series, may differ. */
export function differenceOf(answer: SentAnswer, control: SentAnswer): string | undefined {
  if (answer.status !== control.status) return `status ${answer.status} for ${control.status}`;
  for (const name of compared)
    if (answer.headers[name] !== control.headers[name])
      return `${name}: ${String(answer.headers[name])} for ${String(control.headers[name])}`;
  if (answer.text === control.text) return undefined;
  const [is, should] = [meaningOf(answer.text), meaningOf(control.text)];
  if (isDeepStrictEqual(is, should)) return undefined;
  return `body ${shortened(answer.text, control.text)}`;
}

function meaningOf(text: string): unknown {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return text;
  }
  if (!isObject(body)) return body;
  const { data } = body;
  if (!isObject(data)) return Array.isArray(data) ? { ...body, data: sorted(data) } : body;
  const { result } = data;
  const meant = Array.isArray(result) ? { result: sorted(result) } : {};
  return { ...body, data: { ...data, ...meant, stats: undefined } };
}

function sorted(items: readonly unknown[]): readonly string[] {
  return items.map((item) => JSON.stringify(item)).sort();
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Where two texts part. */
function shortened(text: string, control: string): string {
  let at = 0;
  while (at < text.length && text[at] === control[at]) at += 1;
  const from = Math.max(0, at - 60);
  return `at ${at}: ${text.slice(from, at + 120)} for ${control.slice(from, at + 120)}`;
}
