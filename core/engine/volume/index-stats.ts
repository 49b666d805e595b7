import type { TimeRange } from '../../base/time/range.js';
import type { IndexStatsAnswer } from '../../wire/answer/types.js';
import { Pacer } from '../../base/pace/pacer.js';
import type { EngineContext } from '../context.js';
import type { IndexStatsPlan } from '../plan/types.js';
import { StreamPieces, type PiecesContext } from './stream-pieces.js';
import { VolumeBuckets } from './volume-buckets.js';

/** Streams, entries and bytes that a selector matches. Chunks are specific to Loki's storage; one per stream is reported. */
export async function answerIndexStats(
  { filter }: IndexStatsPlan,
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
