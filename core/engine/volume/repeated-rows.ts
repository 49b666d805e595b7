import type { LogsqlPipe } from '../../victoria/logsql/ast.js';
import { query, stats, statsFunction } from '../../victoria/logsql/build.js';
import { columnOf, type BackendRow } from '../../victoria/upstream/types.js';
import { repeatingStreams, type Looked } from '../rows/repeating-streams.js';

/** Statistics of a backend stream in which entries were pushed more than once, each of them counted once. */
export interface RepeatedRows {
  readonly rows: readonly BackendRow[];
  /** How many stored rows there are for an entry. */
  readonly copies: number;
}

/**
 * Counts the streams in which rows repeat another one, by `_stream` text. Rows are compared as they are stored.
 * @param fields that the statistics group by
 * @param counting statistics by `_stream` with a column `entries`
 */
export async function repeatedRows(
  looked: Looked,
  fields: readonly string[],
  counting: LogsqlPipe,
): Promise<ReadonlyMap<string, RepeatedRows>> {
  const { upstream, range } = looked;
  const stored = await rowsByStream(looked);
  const streams = new Set([...stored].flatMap(([text, { isShared }]) => (isShared ? [text] : [])));
  const found = new Map<string, RepeatedRows>();
  const repeating = await repeatingStreams(looked, { streams }, 'rows');
  if (repeating === undefined) return found;
  const compared = new Set(['_stream', '_time', '_msg', ...fields, ...repeating.fields]);
  const distinct: LogsqlPipe = { kind: 'uniq', by: [...compared], hits: false };
  const rowsOf = new Map<string, BackendRow[]>();
  for await (const batch of upstream.rows({ query: query(repeating.filter, [distinct, counting]), range }))
    for (const row of batch) {
      const text = row._stream ?? '{}';
      if (!repeating.streams.has(text)) continue;
      const rows = rowsOf.get(text);
      if (rows === undefined) rowsOf.set(text, [row]);
      else rows.push(row);
    }
  for (const [text, rows] of rowsOf) {
    const entries = rows.reduce((sum, row) => sum + Number(columnOf(row, 'entries') ?? 0), 0);
    found.set(text, { rows, copies: (stored.get(text)?.rows ?? entries) / entries });
  }
  return found;
}

interface StoredRows {
  readonly rows: number;
  /** Whether rows share a time. */
  readonly isShared: boolean;
}

async function rowsByStream({ upstream, filter, range }: Looked): Promise<ReadonlyMap<string, StoredRows>> {
  const counting = stats(
    ['_stream'],
    statsFunction('count', [], 'rows'),
    statsFunction('count_uniq_hash', ['_time'], 'different'),
  );
  const found = new Map<string, StoredRows>();
  for await (const batch of upstream.rows({ query: query(filter, [counting]), range }))
    for (const row of batch) {
      const [rows, different] = [Number(columnOf(row, 'rows')), Number(columnOf(row, 'different'))];
      found.set(row._stream ?? '{}', { rows, isShared: rows !== different });
    }
  return found;
}
