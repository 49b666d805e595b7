import { request } from 'undici';
import { makeLine, type LineKind } from './queries.js';

/** The time of the first line, in Unix nanoseconds; all lines are within the hour after it. */
export const startNs = 1_793_494_800_000_000_000n;
export const endNs = startNs + 3_600_000_000_000n;

export const lengths = [200_000, 1_000_000] as const;
export type LineLength = (typeof lengths)[number];

export const kinds: readonly LineKind[] = [
  'json',
  'wide-json',
  'deep-json',
  'logfmt',
  'letters',
  'dots',
  'addresses',
  'escapes',
  'runs',
];
const linesOf: ReadonlyMap<LineLength, number> = new Map([
  [200_000, 3],
  [1_000_000, 1],
]);
const batchRows = 10_000;

/** The tenant that has only the lines of this kind and length. */
export function tenantOf(kind: LineKind, length: LineLength): string {
  return String(500 + kinds.indexOf(kind) * 2 + lengths.indexOf(length));
}

/** The tenant with very many short lines: `{app="many"}`, each with a unique id. */
export const manyTenant = '600';

/** Fills an empty backend. */
export async function loadHostile(url: string, manyRows: number): Promise<void> {
  for (const kind of kinds) {
    for (const length of lengths) {
      const line = makeLine(kind, length);
      const values = Array.from({ length: linesOf.get(length) ?? 1 }, (_, at) => [nanos(at * 1_000), line]);
      await push(url, tenantOf(kind, length), [{ stream: { app: 'hostile' }, values }]);
    }
  }
  for (let from = 0; from < manyRows; from += batchRows) {
    const values = Array.from({ length: Math.min(batchRows, manyRows - from) }, (_, at) => {
      const row = from + at;
      const text = JSON.stringify({
        id: `id-${row}`,
        user: `user-${row % 5_000}`,
        level: row % 10 === 0 ? 'error' : 'info',
        ms: row % 997,
      });
      return [nanos(Math.floor((row * 3_600_000) / manyRows)), text];
    });
    await push(url, manyTenant, [{ stream: { app: 'many', shard: String((from / batchRows) % 7) }, values }]);
  }
}

function nanos(afterMs: number): string {
  return String(startNs + BigInt(afterMs) * 1_000_000n);
}

async function push(url: string, account: string, streams: readonly unknown[]): Promise<void> {
  const answer = await request(`${url}/insert/loki/api/v1/push?disable_message_parsing=1`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accountid: account, projectid: '0' },
    body: JSON.stringify({ streams }),
  });
  const text = await answer.body.text();
  if (answer.statusCode >= 300)
    throw new Error(`the backend refused a push: ${answer.statusCode} ${text.slice(0, 300)}`);
}
