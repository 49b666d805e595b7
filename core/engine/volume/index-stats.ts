import type { TimeRange } from '../../base/time/range.js';
import type { IndexStatsAnswer } from '../../wire/answer/types.js';
import { not, query, stats, statsFunction } from '../../victoria/logsql/build.js';
import { missingLineRows } from '../plan/missing-lines.js';
import type { IndexStatsPlan } from '../plan/types.js';
import type { BackendSample } from '../../victoria/upstream/types.js';
import type { Backend } from '../backend.js';
import { streamsOf } from '../listings/listings.js';

// Counting distinct entries holds each of them in the backend's memory, which does not pay beyond this number.
const maxExactEntries = 1_000_000;

/** Streams, entries and bytes of lines that a selector matches. Chunks are specific to Loki's storage; one per stream is reported. */
export async function answerIndexStats(
  { filter }: IndexStatsPlan,
  { range }: { readonly range: TimeRange },
  { upstream, reader, naming }: Backend,
): Promise<IndexStatsAnswer> {
  const missing = missingLineRows(naming);
  const totals = stats([], statsFunction('count', [], 'rows'), {
    ...statsFunction('sum_len', ['_msg'], 'bytes'),
    condition: not(missing),
  });
  const [streams, samples] = await Promise.all([
    streamsOf(filter, range, upstream, reader),
    upstream.stats({ query: query(filter, [totals]), range }),
  ]);
  const rows = valueOf(samples, 'rows');
  if (rows === 0) return { kind: 'index-stats', streams: 0, chunks: 0, bytes: 0, entries: 0, warnings: [] };
  let entries = rows;
  if (rows <= maxExactEntries) {
    // Loki keeps one entry when the same line was pushed twice with the same time. Rows without a line cannot be distinguished by it, so
    // each of them counts.
    const distinct = stats(
      [],
      { ...statsFunction('count_uniq', ['_stream_id', '_time', '_msg'], 'entries'), condition: not(missing) },
      { ...statsFunction('count', [], 'bare'), condition: missing },
    );
    const counted = await upstream.stats({ query: query(filter, [distinct]), range });
    entries = valueOf(counted, 'entries') + valueOf(counted, 'bare');
  }
  const bytes = valueOf(samples, 'bytes');
  return {
    kind: 'index-stats',
    streams: streams.length,
    chunks: streams.length,
    bytes,
    entries,
    warnings: [],
  };
}

function valueOf(samples: readonly BackendSample[], name: string): number {
  const value = Number(samples.find((sample) => sample.name === name)?.value ?? 0);
  return Number.isFinite(value) ? value : 0;
}
