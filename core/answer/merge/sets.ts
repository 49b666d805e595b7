import type { LabelSet } from '../../labels/label-set.js';
import type { IndexStatsAnswer, NamesAnswer, SeriesAnswer } from '../types.js';
import { mergeWarnings } from './shared.js';

/** The union of names, sorted, each once. */
export function mergeNames(answers: readonly NamesAnswer[]): NamesAnswer {
  const values = new Set(answers.flatMap((answer) => answer.values));
  return { kind: 'names', values: [...values].sort(), warnings: mergeWarnings(answers) };
}

/** The union of label sets, each once, in the order they came. */
export function mergeSeries(answers: readonly SeriesAnswer[]): SeriesAnswer {
  const byKey = new Map<string, LabelSet>();
  for (const labels of answers.flatMap((answer) => answer.series))
    if (!byKey.has(labels.key)) byKey.set(labels.key, labels);
  return { kind: 'series', series: [...byKey.values()], warnings: mergeWarnings(answers) };
}

/** Sums; parts must not overlap, which these numbers could not show. */
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
