import type { LabelSet } from '../../../base/labels/label-set.js';
import { eachStep, type Steps } from '../../../base/pace/steps.js';
import type { Point, SampleResult, SeriesResult } from '../../../logql/metric/points.js';
import type { MatrixAnswer, VectorAnswer } from '../types.js';
import { mergeStats, mergeWarnings } from './shared.js';

/**
 * Joins series with the same labels, sorted by time; of two points at one timestamp the earlier part's wins. This joins time windows. It
 * does not add up tenants, which only the metric evaluator can do.
 */
export function* mergeMatrix(answers: readonly MatrixAnswer[]): Steps<MatrixAnswer> {
  const byKey = new Map<string, { readonly labels: LabelSet; readonly points: Map<number, Point> }>();
  for (const { labels, points } of answers.flatMap((answer) => answer.series)) {
    const joined = byKey.get(labels.key) ?? { labels, points: new Map<number, Point>() };
    byKey.set(labels.key, joined);
    yield* eachStep(points, (point) => {
      if (!joined.points.has(point.timestampMs)) joined.points.set(point.timestampMs, point);
    });
    yield;
  }
  const series: SeriesResult[] = [];
  for (const { labels, points } of byKey.values()) {
    series.push({ labels, points: [...points.values()].sort((a, b) => a.timestampMs - b.timestampMs) });
    yield;
  }
  return {
    kind: 'matrix',
    series,
    stats: mergeStats(answers.map((answer) => answer.stats)),
    warnings: mergeWarnings(answers),
  };
}

/** The union of samples; of two with the same labels the earlier part's wins. */
export function* mergeVector(answers: readonly VectorAnswer[]): Steps<VectorAnswer> {
  const byKey = new Map<string, SampleResult>();
  for (const { samples } of answers)
    yield* eachStep(samples, (sample) => {
      if (!byKey.has(sample.labels.key)) byKey.set(sample.labels.key, sample);
    });
  return {
    kind: 'vector',
    samples: [...byKey.values()],
    stats: mergeStats(answers.map((answer) => answer.stats)),
    warnings: mergeWarnings(answers),
  };
}
