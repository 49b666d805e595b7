import type { VolumeAnswer } from '../../wire/answer/types.js';
import type { VolumeRangeRequest, VolumeRequest } from '../../wire/api/discovery-request.js';
import { VolumeBuckets } from './volume-buckets.js';
import { TooManyVolumesError, VolumeSums } from './volume-sums.js';
import { apiError } from '../../base/errors/table.js';
import type { Naming } from '../../victoria/names/naming.js';
import { Pacer } from '../../base/pace/pacer.js';
import type { VolumePlan } from '../plan/types.js';
import type { EngineContext } from '../context.js';
import { StreamPieces, type PiecesRequest } from './stream-pieces.js';

/** The longest time that Loki fills a chunk: its volumes are spread over that. */
const chunkNs = 2n * 3_600n * 1_000_000_000n;
/** The most pieces of one stream over a long range, where a piece covers more than a chunk. */
const maxPieces = 96n;

/** Bytes of the selected streams in Loki's measure. */
export async function answerVolume(
  plan: VolumePlan,
  request: VolumeRequest | VolumeRangeRequest,
  context: EngineContext,
): Promise<VolumeAnswer> {
  const startedAt = context.clock.monotonicMs();
  const { range } = request;
  const { filter, targets, required } = plan;
  const maxSeries = context.limits.of([context.tenant.id]).volumeMaxSeries;
  const stepNs = request.op === 'volume_range' ? request.stepNs : range.endNs + 1n;
  const buckets = new VolumeBuckets(range, stepNs, context.clock.nowNs());
  const { aggregateBy } = request;
  const sums = new VolumeSums({ buckets, targets, required, aggregateBy, maxSeries });
  const cellNs = request.op === 'volume_range' ? cellOf(range.endNs - range.startNs) : undefined;
  const columns = declaredColumns(plan, context.naming);
  const pieces = new StreamPieces({ filter, range, cellNs, columns }, context);
  let bytes = 0;
  const pacer = new Pacer(context.signal);
  try {
    for await (const [labels, piece] of pieces.read()) {
      bytes += piece.bytes;
      sums.add(labels, piece);
      const pause = pacer.due();
      if (pause !== undefined) await pause;
    }
  } catch (error) {
    if (!(error instanceof TooManyVolumesError)) throw error;
    throw apiError('volumeSeriesLimit', { limit: maxSeries }, { cause: error });
  }
  return {
    kind: 'volume',
    series: sums.series(request.limit),
    stats: {
      linesProcessed: pieces.rows,
      bytesProcessed: Math.round(bytes),
      entriesReturned: 0,
      postFilterLines: pieces.rows,
      structuredMetadataBytes: 0,
      execTimeMs: context.clock.monotonicMs() - startedAt,
      splits: 1,
    },
    warnings: [],
  };
}

function cellOf(span: bigint): bigint {
  const chunks = span / chunkNs / maxPieces + 1n;
  return chunks * chunkNs;
}

/** Fields declared as labels: they need not be stream fields, so they are columns of the rows. */
function declaredColumns({ targets }: VolumePlan, naming: Naming): NonNullable<PiecesRequest['columns']> {
  if (targets === 'all') return [];
  return [...targets].flatMap((label) => naming.columnsOf(label).map((field) => [label, field] as const));
}
