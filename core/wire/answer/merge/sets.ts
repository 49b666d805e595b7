import type { LabelSet } from '../../../base/labels/label-set.js';
import { eachStep, sortSteps, type Steps } from '../../../base/pace/steps.js';
import type { IndexStatsAnswer, NamesAnswer, SeriesAnswer } from '../types.js';
import { mergeWarnings } from './shared.js';

/** The sorted union of names. */
export function* mergeNames(answers: readonly NamesAnswer[]): Steps<NamesAnswer> {
  const all = new Set<string>();
  for (const { values } of answers) yield* eachStep(values, (value) => all.add(value));
  const values = yield* sortSteps([...all], (a, b) => (a < b ? -1 : 1));
  return { kind: 'names', values, warnings: mergeWarnings(answers) };
}

/** The union of label sets, in order of appearance. */
export function* mergeSeries(answers: readonly SeriesAnswer[]): Steps<SeriesAnswer> {
  const byKey = new Map<string, LabelSet>();
  for (const { series } of answers)
    yield* eachStep(series, (labels) => {
      if (!byKey.has(labels.key)) byKey.set(labels.key, labels);
    });
  return { kind: 'series', series: [...byKey.values()], warnings: mergeWarnings(answers) };
}

/** Sums the counters. The parts must not overlap: the counters could not show it. */
export function mergeIndexStats(answers: readonly IndexStatsAnswer[]): IndexStatsAnswer {
  const sum = (read: (answer: IndexStatsAnswer) => number): number =>
    answers.reduce((total, answer) => total + read(answer), 0);
  return {
    kind: 'index-stats',
    streams: sum((answer) => answer.streams),
    chunks: sum((answer) => answer.chunks),
    bytes: sum((answer) => answer.bytes),
    entries: sum((answer) => answer.entries),
    warnings: mergeWarnings(answers),
  };
}
