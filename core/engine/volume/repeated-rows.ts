import type { LogsqlPipe } from '../../victoria/logsql/ast.js';
import { Pacer } from '../../base/pace/pacer.js';
import { atPace } from '../../base/pace/steps.js';
import { and, query, stats, statsFunction } from '../../victoria/logsql/build.js';
import { columnOf, type BackendRow, type BackendValue } from '../../victoria/upstream/types.js';
import type { EngineContext } from '../context.js';
import { duplicateRows } from '../metric/count/duplicates.js';
import { readStreams, streamsWithSameEntries } from '../metric/count/stream-listing.js';
import { isDeclined } from '../metric/declined.js';
import { repeatingStreams, streamsFilter, type Looked } from '../rows/repeating-streams.js';

/** Statistics of a backend stream in which entries were pushed more than once, each of them counted once. */
export interface StreamOnce {
  readonly rows: readonly BackendRow[];
  /** How many stored rows there are for an entry. */
  readonly copies: number;
}

/** The corrections that make entries count once that were pushed more than once. */
export interface RepeatedRows {
  /** By `_stream` text, in place of all rows of the stream. */
  readonly within: ReadonlyMap<string, StreamOnce>;
  /** Rows of other streams that repeat one of their own stream, or of another one with the same labels. */
  readonly surplus: readonly BackendRow[];
}

export const noRepeats: RepeatedRows = { within: new Map(), surplus: [] };

type LookedAt = Looked & Pick<EngineContext, 'memory' | 'signal'>;

/**
 * Finds the rows that repeat another one: streams that may have the same entries as another one are compared row by row at the times that
 * repeat, all others by statistics of the backend, which compares rows as they are stored.
 * @param listed the streams of the range
 * @param fields that the statistics group by
 * @param counting statistics by `_stream` with a column `entries`
 */
export async function repeatedRows(
  looked: LookedAt,
  listed: readonly BackendValue[],
  fields: readonly string[],
  counting: LogsqlPipe,
): Promise<RepeatedRows> {
  const { streams, surplus } = await repeatedAcross(looked, listed);
  return { within: await repeatedWithin(looked, streams, fields, counting), surplus };
}

interface Across {
  /** The streams that were compared with one another. */
  readonly streams: ReadonlySet<string>;
  readonly surplus: readonly BackendRow[];
}

async function repeatedAcross(looked: LookedAt, listed: readonly BackendValue[]): Promise<Across> {
  const { reader, filter, signal } = looked;
  const pacer = new Pacer(signal);
  const known = await atPace(readStreams(listed, reader), pacer);
  const streams = await atPace(streamsWithSameEntries(known), pacer);
  if (streams.size === 0) return { streams, surplus: [] };
  const surplus = await duplicateRows({
    ...looked,
    filter: and(filter, streamsFilter(streams, reader)),
    profile: {
      streamsWithSharedTimes: new Set(),
      repeatedAt: [],
      surplus: undefined,
      surplusElsewhere: undefined,
      crowded: [],
    },
    streams: known,
  });
  // Too many to be compared: each of these streams is counted by itself.
  if (isDeclined(surplus)) return { streams: new Set(), surplus: [] };
  return { streams, surplus: surplus.filter((row) => streams.has(row._stream ?? '{}')) };
}

async function repeatedWithin(
  looked: Looked,
  done: ReadonlySet<string>,
  fields: readonly string[],
  counting: LogsqlPipe,
): Promise<RepeatedRows['within']> {
  const { upstream, range } = looked;
  const stored = await rowsByStream(looked);
  const streams = new Set(
    [...stored].flatMap(([text, { isShared }]) => (isShared && !done.has(text) ? [text] : [])),
  );
  const found = new Map<string, StreamOnce>();
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
