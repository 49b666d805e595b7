import { atPace, Pacer } from '../../core/base/pace/steps.js';
import { detectedLabelsOf } from '../../core/engine/fields/detected-labels.js';
import { VolumeBuckets } from '../../core/engine/volume/volume-buckets.js';
import { isFound, pageOf, widen } from '../../core/operations/rules/paging.js';
import { biggestVolumes, unlimited } from '../../core/operations/rules/tenants.js';
import { mergeIndexStats, mergeSteps } from '../../core/wire/answer/merge/index.js';
import { shardCount, spreadShards } from '../../core/wire/answer/merge/spread-shards.js';
import type { Answer, IndexStatsAnswer, SeriesAnswer, VolumeAnswer } from '../../core/wire/answer/types.js';
import {
  type ApiRequest,
  Selector,
  type SeriesRequest,
  type VolumeRangeRequest,
  type VolumeRequest,
} from '../../core/wire/api/request.js';
import { logQueriesOf, printSelector, type Selector as SelectorNode } from '../../core/logql/index.js';
import { rangeOn, type Side } from './border.js';
import { isNotFound } from './old-loki.js';
import { rethrown, type Sides } from './sides.js';

/** Requests whose answers over two times are a union or a sum. */
export type MergedRequest = Extract<
  ApiRequest,
  {
    readonly op:
      | 'labels'
      | 'label_values'
      | 'series'
      | 'index_stats'
      | 'index_shards'
      | 'volume'
      | 'volume_range'
      | 'detected_labels'
      | 'patterns';
  }
>;

/** The largest limit that Loki reads: a 32-bit number with a sign. */
const lokiUnlimited = 0x7fff_ffff;

const noPatterns = 'the old Loki has no patterns, so those of the time before it was replaced are missing';

/** Answers a request that lists or sums over a range: each side answers its part. */
export async function answerMerged(request: MergedRequest, untilNs: bigint, sides: Sides): Promise<Answer> {
  const over = new BothTimes(request.range, untilNs, sides);
  switch (request.op) {
    case 'labels':
    case 'label_values': {
      const { browse } = request;
      const answer = await over.merged({ ...request, browse: widen(browse) });
      if (answer.kind !== 'names') return answer;
      const found = answer.values.filter((value) => isFound(value, browse));
      return { kind: 'names', values: pageOf(found, browse), warnings: answer.warnings };
    }
    case 'series':
      return over.merged(request);
    case 'index_stats':
      return statsOf(request.query, request.range, over);
    case 'index_shards': {
      const { query, range, targetBytesPerShard } = request;
      const all = logQueriesOf(query.ast).map(({ selector }) => selectorOf(selector));
      const stats = mergeIndexStats(await Promise.all(all.map((selector) => statsOf(selector, range, over))));
      const shards = spreadShards(stats, shardCount(stats.bytes, targetBytesPerShard));
      return { kind: 'shards', shards, warnings: stats.warnings };
    }
    case 'volume':
    case 'volume_range':
      return volumeOf(request, over);
    case 'detected_labels': {
      const { query, range } = request;
      const selectors = query === undefined ? [] : [query];
      const { series, warnings } = await over.series({ op: 'series', selectors, range });
      return { ...detectedLabelsOf(series), warnings };
    }
    case 'patterns': {
      const merged = await over.merged(request, (error) => {
        if (!isNotFound(error)) throw error;
        return { kind: 'patterns', patterns: [], warnings: [noPatterns] };
      });
      return merged.kind === 'patterns'
        ? { ...merged, patterns: merged.patterns.slice(0, request.limit) }
        : merged;
    }
  }
}

/** A range over the border. */
class BothTimes {
  readonly #range: MergedRequest['range'];
  readonly #untilNs: bigint;
  readonly #sides: Sides;

  constructor(range: MergedRequest['range'], untilNs: bigint, sides: Sides) {
    this.#range = range;
    this.#untilNs = untilNs;
    this.#sides = sides;
  }

  /** The answers of the sides that the range has times of; the old one first. */
  parts<Request extends MergedRequest | SeriesRequest>(
    request: Request,
    onError: (error: unknown) => Answer = rethrown,
    change: (request: Request, side: Side) => Request = (same) => same,
  ): Promise<readonly Answer[]> {
    const parts = (['old', 'new'] as const).flatMap((side) => {
      const range = rangeOn(side, this.#range, this.#untilNs);
      return range === undefined ? [] : [{ side, request: change({ ...request, range }, side) }];
    });
    return this.#sides.askAll(parts, onError);
  }

  async merge(answers: readonly Answer[]): Promise<Answer> {
    return atPace(mergeSteps(answers, { direction: 'backward' }), new Pacer(this.#sides.signal));
  }

  async merged(request: MergedRequest, onError: (error: unknown) => Answer = rethrown): Promise<Answer> {
    return this.merge(await this.parts(request, onError));
  }

  async series(request: SeriesRequest): Promise<SeriesAnswer> {
    const merged = await this.merge(await this.parts(request));
    if (merged.kind !== 'series') throw new Error(`a listing of series was answered with ${merged.kind}`);
    return merged;
  }
}

/** Counters of both sides are added up; a stream that both have counts once. */
async function statsOf(
  query: Selector,
  range: MergedRequest['range'],
  over: BothTimes,
): Promise<IndexStatsAnswer> {
  const parts = await over.parts({ op: 'index_stats', query, range });
  const merged = await over.merge(parts);
  if (merged.kind !== 'index-stats') throw new Error(`statistics were answered with ${merged.kind}`);
  const counted = parts.filter((answer) => answer.kind === 'index-stats' && answer.streams > 0);
  if (counted.length < 2) return merged;
  const { series } = await over.series({ op: 'series', selectors: [query], range });
  return { ...merged, streams: Math.min(series.length, merged.streams) };
}

/** The volumes of a bucket over the border are added up. */
async function volumeOf(request: VolumeRequest | VolumeRangeRequest, over: BothTimes): Promise<Answer> {
  const parts = await over.parts(request, rethrown, (part, side) => ({
    ...part,
    limit: side === 'old' ? lokiUnlimited : unlimited,
  }));
  const { range } = request;
  const stepNs = request.op === 'volume_range' ? request.stepNs : range.endNs + 1n;
  const buckets = new VolumeBuckets(range, stepNs, 0n);
  const stamped = parts.map((answer) => (answer.kind === 'volume' ? restamped(answer, buckets) : answer));
  return biggestVolumes(await over.merge(stamped), request);
}

/** The answer with the times of the buckets of the whole range: the last bucket of a part ends with the part. */
function restamped(answer: VolumeAnswer, buckets: VolumeBuckets): VolumeAnswer {
  const series = answer.series.map(({ labels, points }) => ({
    labels,
    points: points.map(({ timestampMs, value }) => ({ timestampMs: buckets.stampOf(timestampMs), value })),
  }));
  return { ...answer, series };
}

function selectorOf({ matchers }: SelectorNode): Selector {
  return new Selector(printSelector({ matchers }), 'accept', matchers);
}
