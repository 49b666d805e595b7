import type { LabelSet } from '../../../base/labels/label-set.js';
import { eachStep, sortSteps, type Steps } from '../../../base/pace/steps.js';
import { byHeat, byRank, neverSeen, type Heat, type Ranked } from '../rank.js';
import type { IndexStatsAnswer, NamesAnswer, SeriesAnswer } from '../types.js';
import { mergeWarnings } from './shared.js';

/** The sorted union of names; ranked, if any of them are. */
export function* mergeNames(answers: readonly NamesAnswer[]): Steps<NamesAnswer> {
  if (answers.some(({ heat }) => heat !== undefined)) return yield* mergeRanked(answers);
  const all = new Set<string>();
  for (const { values } of answers) yield* eachStep(values, (value) => all.add(value));
  const values = yield* sortSteps([...all], (a, b) => (a < b ? -1 : 1));
  return { kind: 'names', values, warnings: mergeWarnings(answers) };
}

/**
 * The union of ranked names, each as hot as where it is hottest. So the first of the union are among the first of each part, and pages can
 * be cut from what the parts begin with. Names of parts that are not ranked come last.
 */
function* mergeRanked(answers: readonly NamesAnswer[]): Steps<NamesAnswer> {
  const hottest = new Map<string, Heat>();
  for (const { values, heat } of answers)
    yield* eachStep(values.entries(), ([index, value]) => {
      const own = heat?.[index] ?? neverSeen;
      const other = hottest.get(value);
      if (other === undefined || byHeat(own, other) < 0) hottest.set(value, own);
    });
  const all: Ranked[] = [];
  yield* eachStep(hottest, ([value, { seen, lastMs }]) => all.push({ value, seen, lastMs }));
  const ranked = yield* sortSteps(all, byRank);
  return {
    kind: 'names',
    values: ranked.map(({ value }) => value),
    heat: ranked.map(({ seen, lastMs }) => ({ seen, lastMs })),
    warnings: mergeWarnings(answers),
  };
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
