/** Cuts answers at the bounds of windows. */
import { eachStep, type Steps } from '../../core/base/pace/steps.js';
import type { TimeRange } from '../../core/base/time/range.js';
import type { Point, SeriesResult } from '../../core/logql/metric/work.js';
import { noStats } from '../../core/wire/answer/merge/shared.js';
import type { Entry, MatrixAnswer, StreamResult, StreamsAnswer } from '../../core/wire/answer/types.js';
import type { StepRange } from './windows.js';

/** Cuts a matrix into its points in each of these ranges, which are ordered and disjoint. Only the whole contains the cost. */
export function* cutMatrix({ series }: MatrixAnswer, ranges: readonly StepRange[]): Steps<MatrixAnswer[]> {
  const parts = ranges.map((): SeriesResult[] => []);
  for (const { labels, points } of series) {
    let at = 0;
    for (const [index, { firstMs, lastMs }] of ranges.entries()) {
      const own: Point[] = [];
      for (; at < points.length; at += 1) {
        const point = points[at];
        if (point === undefined || point.timestampMs > lastMs) break;
        if (point.timestampMs >= firstMs) own.push(point);
      }
      if (own.length > 0) parts[index]?.push({ labels, points: own });
    }
    yield;
  }
  return parts.map((own) => ({ kind: 'matrix', series: own, stats: noStats, warnings: [] }));
}

/** The entries of a log answer in [startNs, endNs). */
export function* cutStreams({ streams }: StreamsAnswer, { startNs, endNs }: TimeRange): Steps<StreamsAnswer> {
  const kept: StreamResult[] = [];
  for (const { labels, entries } of streams) {
    const own: Entry[] = [];
    yield* eachStep(entries, (entry) => {
      if (entry.timestampNs >= startNs && entry.timestampNs < endNs) own.push(entry);
    });
    if (own.length > 0) kept.push({ labels, entries: own });
    yield;
  }
  return { kind: 'streams', streams: kept, stats: noStats, warnings: [] };
}

export function countEntries({ streams }: StreamsAnswer): number {
  return streams.reduce((sum, { entries }) => sum + entries.length, 0);
}
