import type { Answered } from '../../core/comparison/answers.js';
import { asObject, canonical, type Json } from '../../core/comparison/json.js';

/** An answer without its statistics as one text; answers that differ only in an unspecified order have the same text. */
export function comparableText({ status, body }: Answered): string {
  if (typeof body === 'string') return `${status} ${body}`;
  const answer = asObject(body);
  const data = answer['data'];
  return `${status} ${canonical({ ...answer, data: Array.isArray(data) ? sortedItems(data) : comparableData(asObject(data)) })}`;
}

/** The order of streams and series is unspecified, as is that of entries with the same timestamp. */
function comparableData(data: Json): Json {
  const { result } = data;
  const parts = Object.entries(data).filter(([name]) => name !== 'stats' && name !== 'result');
  return {
    ...Object.fromEntries(parts),
    result: Array.isArray(result) ? sortedItems(result.map(withSortedValues)) : result,
  };
}

function withSortedValues(stream: unknown): Json {
  const { values, ...rest } = asObject(stream);
  return { ...rest, values: Array.isArray(values) ? sortedItems(values) : values };
}

function sortedItems(items: readonly unknown[]): readonly string[] {
  return items.map(canonical).sort();
}
