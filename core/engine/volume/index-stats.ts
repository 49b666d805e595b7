import type { TimeRange } from '../../base/time/range.js';
import type { IndexStatsAnswer, MatrixAnswer, ShardsAnswer } from '../../wire/answer/types.js';
import { Pacer } from '../../base/pace/steps.js';
import type { EngineContext } from '../context.js';
import type { LineCountsPlan, SelectedRows } from '../plan/types.js';
import { StreamPieces, type PiecesContext } from './stream-pieces.js';
import { VolumeBuckets } from './volume-buckets.js';
import { LabelSet } from '../../base/label-set.js';
import { noStats } from '../../wire/answer/merge/shared.js';
import type { IndexShardsRequest, QueryRangeRequest } from '../../wire/api/request.js';
import type { Backend } from '../backend.js';
import { countByTime, countRows } from '../rows/count-by-time.js';
import { shardCount, spreadShards } from '../../wire/answer/merge/spread-shards.js';

/** Counts the streams, entries and bytes that a selector matches. Chunks are specific to Loki's storage; one per stream is reported. */
export async function answerIndexStats(
  { filter }: SelectedRows,
  { range }: { readonly range: TimeRange },
  context: PiecesContext & Pick<EngineContext, 'clock' | 'signal'>,
): Promise<IndexStatsAnswer> {
  const whole = new VolumeBuckets(range, range.endNs + 1n, context.clock.nowNs());
  const pieces = new StreamPieces({ filter, range }, context);
  const streams = new Set<string>();
  let [entries, bytes] = [0, 0];
  const pacer = new Pacer(context.signal);
  for await (const [labels, piece] of pieces.read()) {
    streams.add(labels.key);
    entries += piece.entries;
    for (const share of whole.sharesOf(piece)) bytes += share.bytes;
    const pause = pacer.due();
    if (pause !== undefined) await pause;
  }
  return {
    kind: 'index-stats',
    streams: streams.size,
    chunks: streams.size,
    bytes,
    entries,
    warnings: [],
  };
}

/** Counts the rows of streams by time, with a point at the start of each bucket of the request's step. */
export async function answerLineCounts(
  { filter, isTotal = false }: LineCountsPlan,
  { range, stepNs }: QueryRangeRequest,
  { upstream }: Pick<Backend, 'upstream'>,
): Promise<MatrixAnswer> {
  const counts = isTotal
    ? [{ startNs: range.startNs, rows: await countRows(upstream, filter, range, true) }]
    : await countByTime(filter, range, stepNs, upstream, true);
  const points = counts.map(({ startNs, rows }) => ({
    timestampMs: Number(startNs / 1_000_000n),
    value: rows,
  }));
  return { kind: 'matrix', series: [{ labels: LabelSet.empty, points }], stats: noStats, warnings: [] };
}

/** Splits the selected streams into parts of about the wanted size, by their statistics. */
export async function answerShards(
  plan: SelectedRows,
  { range, targetBytesPerShard }: IndexShardsRequest,
  context: EngineContext,
): Promise<ShardsAnswer> {
  const totals = await answerIndexStats(plan, { range }, context);
  const shards = spreadShards(totals, shardCount(totals.bytes, targetBytesPerShard));
  return { kind: 'shards', shards, warnings: [] };
}
