import type { VolumeAnswer } from '../../wire/answer/types.js';
import type { VolumeAggregation, VolumeRangeRequest, VolumeRequest } from '../../wire/api/request.js';
import { VolumeBuckets, type VolumePiece } from './volume-buckets.js';
import { apiError } from '../../base/errors/table.js';
import type { Naming } from '../../victoria/names/naming.js';
import { Pacer } from '../../base/pace/steps.js';
import type { VolumePlan } from '../plan/types.js';
import type { EngineContext } from '../context.js';
import { StreamPieces, type PiecesRequest } from './stream-pieces.js';
import type { SeriesResult } from '../../logql/metric/work.js';
import { type Label, LabelSet } from '../../base/label-set.js';
import { biggest, byVolume } from '../../wire/answer/merge/volume-order.js';

/** The longest time during which Loki fills a chunk; the chunk's volume is spread over that time. */
const chunkNs = 2n * 3_600n * 1_000_000_000n;
/** Maximum number of pieces of one stream over a long range, where a piece covers more than a chunk. */
const maxPieces = 96n;

/** Answers with the bytes of the selected streams in Loki's measure. */
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
  for await (const [labels, piece] of pieces.read()) {
    bytes += piece.bytes;
    sums.add(labels, piece);
    const pause = pacer.due();
    if (pause !== undefined) await pause;
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

/** Fields declared as labels, which need not be stream fields, and so are columns of the rows. */
function declaredColumns({ targets }: VolumePlan, naming: Naming): NonNullable<PiecesRequest['columns']> {
  if (targets === 'all') return [];
  return [...targets].flatMap((label) => naming.columnsOf(label).map((field) => [label, field] as const));
}

export interface VolumeSumsOptions {
  readonly buckets: VolumeBuckets;
  readonly targets: ReadonlySet<string> | 'all';
  /** Streams without one of these labels are ignored. */
  readonly required: readonly string[];
  readonly aggregateBy: VolumeAggregation;
  /** Maximum number of label sets to sum by; 0 means unlimited. */
  readonly maxSeries: number;
}

/** Maximum number of points to hold, regardless of the limits. */
const maxPoints = 2_000_000;

interface Sum {
  readonly labels: LabelSet;
  readonly byBucket: Map<number, number>;
}

/** Sums pieces of streams by label set or label name, per bucket. */
export class VolumeSums {
  readonly #options: VolumeSumsOptions;
  readonly #sums = new Map<string, Sum>();
  #points = 0;

  constructor(options: VolumeSumsOptions) {
    this.#options = options;
  }

  /**
   * Adds a piece of a stream with these labels.
   * @throws ApiError `volumeSeriesLimit` if the answer would have too many label sets or points
   */
  add(stream: LabelSet, piece: VolumePiece): void {
    const sums = this.#keysOf(stream).map((labels) => this.#sumOf(labels));
    if (sums.length === 0) return;
    for (const { index, bytes } of this.#options.buckets.sharesOf(piece))
      for (const { byBucket } of sums) {
        const known = byBucket.get(index);
        if (known === undefined && (this.#points += 1) > maxPoints) throw tooMany(this.#options);
        byBucket.set(index, (known ?? 0) + bytes);
      }
  }

  /** The largest series, up to a limit. */
  series(limit: number): readonly SeriesResult[] {
    const { buckets } = this.#options;
    const all = [...this.#sums.values()].map(({ labels, byBucket }) => ({
      labels,
      points: [...byBucket]
        .sort(([a], [b]) => a - b)
        .map(([index, value]) => ({ timestampMs: buckets.stampMs(index), value })),
    }));
    return biggest(all.filter(({ points }) => points.length > 0).sort(byVolume), limit);
  }

  /** The label sets that a stream is summed under; the empty one if it has no target. */
  #keysOf(stream: LabelSet): readonly LabelSet[] {
    const { targets, required, aggregateBy } = this.#options;
    if (required.some((name) => !stream.has(name))) return [];
    if (targets === 'all')
      return aggregateBy === 'series' ? [stream] : stream.labels.map(([name]) => nameOnly(name));
    const found = stream.labels.filter(([name]) => targets.has(name));
    return aggregateBy === 'series'
      ? [LabelSet.fromSorted(found)]
      : found.map(([name]: Label) => nameOnly(name));
  }

  #sumOf(labels: LabelSet): Sum {
    const known = this.#sums.get(labels.key);
    if (known !== undefined) return known;
    const { maxSeries } = this.#options;
    if (maxSeries > 0 && this.#sums.size >= maxSeries) throw tooMany(this.#options);
    const made = { labels, byBucket: new Map<number, number>() };
    this.#sums.set(labels.key, made);
    return made;
  }
}

function tooMany({ maxSeries }: VolumeSumsOptions): Error {
  return apiError('volumeSeriesLimit', { limit: maxSeries });
}

/** A label set with the name and an empty value, as in sums by name. */
function nameOnly(name: string): LabelSet {
  return LabelSet.fromSorted([[name, '']]);
}
