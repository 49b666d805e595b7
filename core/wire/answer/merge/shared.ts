import type { LabelSet } from '../../../base/label-set.js';
import { ofKey } from '../../../base/memory/byte-lru.js';
import { summed } from '../../../base/order.js';
import { eachStep, type Steps } from '../../../base/pace/steps.js';
import type { Point, SeriesResult } from '../../../logql/metric/work.js';
import type { AnswerStats, StreamTotals } from '../types.js';

/** The statistics of an answer that cost nothing. */
export const noStats: AnswerStats = {
  linesProcessed: 0,
  bytesProcessed: 0,
  entriesReturned: 0,
  postFilterLines: 0,
  structuredMetadataBytes: 0,
  execTimeMs: 0,
  splits: 0,
};

/** Adds up the costs of the parts, except for the time: the longest one is used, because parts run in parallel. */
export function mergeStats(all: readonly AnswerStats[]): AnswerStats {
  return { ...summed(noStats, all), execTimeMs: Math.max(0, ...all.map(({ execTimeMs }) => execTimeMs)) };
}

/** The distinct warnings, in order of appearance. */
export function mergeWarnings(
  answers: readonly { readonly warnings: readonly string[] }[],
): readonly string[] {
  return [...new Set(answers.flatMap((answer) => answer.warnings))];
}

/** Adds up totals of streams that have none in common. */
export function sumTotals(all: readonly StreamTotals[]): StreamTotals {
  return summed<StreamTotals>({ streams: 0, chunks: 0, bytes: 0, entries: 0 }, all);
}

/**
 * Joins series with the same labels, sorted by time.
 * @param combine makes one value of two at the same timestamp, of which the first is that of the earlier part
 */
export function* joinSeries(
  answers: readonly { readonly series: readonly SeriesResult[] }[],
  combine: (first: number, second: number) => number,
): Steps<SeriesResult[]> {
  const byKey = new Map<string, { readonly labels: LabelSet; readonly points: Point[] }>();
  for (const { labels, points } of answers.flatMap(({ series }) => series)) {
    const all = ofKey(byKey, labels.key, () => ({ labels, points: [] })).points;
    yield* eachStep(points, (point) => all.push(point));
    yield;
  }
  const joined: SeriesResult[] = [];
  for (const { labels, points } of byKey.values()) {
    joined.push({ labels, points: joinPoints(points, combine) });
    yield;
  }
  return joined;
}

function joinPoints(points: Point[], combine: (first: number, second: number) => number): readonly Point[] {
  const joined: Point[] = [];
  for (const point of points.sort((a, b) => a.timestampMs - b.timestampMs)) {
    const last = joined.at(-1);
    if (last?.timestampMs !== point.timestampMs) joined.push(point);
    else joined.splice(-1, 1, { ...point, value: combine(last.value, point.value) });
  }
  return joined;
}
