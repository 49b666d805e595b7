/**
 * Merges answers to parts of one request: tenants, time windows, hot and cold storage. Pure functions over plain data. Laws, checked by
 * property tests: merging is associative, the empty answer is neutral, and with `overlap: 'dedupe'` merging an answer with itself returns
 * it unchanged.
 */
import { textOrder } from '../../../base/order.js';
import { doAll, eachStep, sortSteps, type Steps } from '../../../base/pace/steps.js';
import type {
  Answer,
  AnswerKind,
  IndexStatsAnswer,
  MatrixAnswer,
  NamesAnswer,
  SeriesAnswer,
  VectorAnswer,
} from '../types.js';
import {
  mergeDetectedFields,
  mergeDetectedFieldValues,
  mergeDetectedLabels,
  mergePatterns,
  mergeShards,
  mergeVolume,
} from './discovery.js';
import { type MergeOptions, mergeStreams } from './streams.js';
import type { LabelSet } from '../../../base/label-set.js';
import type { SampleResult } from '../../../logql/metric/work.js';
import { joinSeries, mergeStats, mergeWarnings, sumTotals } from './shared.js';
import { byHeat, byRank, type Heat, neverSeen, type RankedName } from '../rank.js';

export * from './discovery.js';
export { mergeStreams, type MergeOptions } from './streams.js';
export { answerBytes, weighAnswer } from './size.js';

/**
 * Merges answers of one kind, in the given order. Answers of different kinds, encoded answers and an empty list are bugs of the caller and
 * throw an Error, not an ApiError.
 */
export function mergeAnswers(answers: readonly Answer[], options: MergeOptions): Answer {
  return doAll(mergeSteps(answers, options));
}

type Merge<Kind extends AnswerKind> = (
  answers: readonly Extract<Answer, { kind: Kind }>[],
  options: MergeOptions,
) => Steps<Answer>;

const mergers: { readonly [Kind in AnswerKind]: Merge<Kind> | string } = {
  streams: mergeStreams,
  names: mergeNames,
  series: mergeSeries,
  'index-stats': inOneStep(mergeIndexStats),
  matrix: mergeMatrix,
  vector: mergeVector,
  volume: mergeVolume,
  'detected-fields': mergeDetectedFields,
  'detected-field-values': mergeDetectedFieldValues,
  'detected-labels': mergeDetectedLabels,
  patterns: mergePatterns,
  shards: inOneStep(mergeShards),
  // These depend only on the request, so all parts gave the same answer.
  scalar: inOneStep(firstOf),
  formatted: inOneStep(firstOf),
  tenant: inOneStep(firstOf),
  several: 'answers to gathered questions are taken apart by the stage that gathered them',
  live: 'live answers cannot be merged',
  encoded: 'encoded answers cannot be merged: derive exchanges with isFinal false',
};

/** As `mergeAnswers`, in steps for large answers. */
export function* mergeSteps(answers: readonly Answer[], options: MergeOptions): Steps<Answer> {
  const { kind } = firstOf(answers);
  const merge = mergers[kind];
  if (typeof merge === 'string') throw new Error(merge);
  const other = answers.find((answer) => answer.kind !== kind);
  if (other !== undefined) throw new Error(`cannot merge a ${other.kind} answer into a ${kind} answer`);
  // All answers have the kind that the merger is for.
  return yield* (merge as Merge<AnswerKind>)(answers, options);
}

function firstOf<One>([first]: readonly One[]): One {
  if (first === undefined) throw new Error('nothing to merge');
  return first;
}

function inOneStep<One extends Answer>(merge: (answers: readonly One[]) => One) {
  return function* (answers: readonly One[]): Steps<One> {
    return merge(answers);
  };
}

/**
 * Joins series with the same labels, sorted by time; of two points at the same timestamp, the earlier part's point is kept. This joins time
 * windows. It does not add up tenants, which only the metric evaluator can do.
 */
export function* mergeMatrix(answers: readonly MatrixAnswer[]): Steps<MatrixAnswer> {
  return {
    kind: 'matrix',
    series: yield* joinSeries(answers, (first) => first),
    stats: mergeStats(answers.map((answer) => answer.stats)),
    warnings: mergeWarnings(answers),
  };
}

/** The union of samples; of two samples with the same labels, the earlier part's sample is kept. */
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

/** The sorted union of names; ranked if any of the parts are. */
export function* mergeNames(answers: readonly NamesAnswer[]): Steps<NamesAnswer> {
  if (answers.some(({ heat }) => heat !== undefined)) return yield* mergeRanked(answers);
  const all = new Set<string>();
  for (const { values } of answers) yield* eachStep(values, (value) => all.add(value));
  const values = yield* sortSteps([...all], textOrder);
  return { kind: 'names', values, warnings: mergeWarnings(answers) };
}

/**
 * The union of ranked names, each with its highest rank in any part. The first names of the union are therefore among the first of each
 * part, so pages can be cut from the beginnings of the parts. Names from unranked parts come last.
 */
function* mergeRanked(answers: readonly NamesAnswer[]): Steps<NamesAnswer> {
  const hottest = new Map<string, Heat>();
  for (const { values, heat } of answers)
    yield* eachStep(values.entries(), ([index, value]) => {
      const own = heat?.[index] ?? neverSeen;
      const other = hottest.get(value);
      if (other === undefined || byHeat(own, other) < 0) hottest.set(value, own);
    });
  const all: RankedName[] = [];
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
  for (const { series } of answers) yield* eachStep(series, (labels) => byKey.set(labels.key, labels));
  return { kind: 'series', series: [...byKey.values()], warnings: mergeWarnings(answers) };
}

/** Sums the counters. The parts must not overlap, since counters cannot be deduplicated. */
export function mergeIndexStats(answers: readonly IndexStatsAnswer[]): IndexStatsAnswer {
  return { kind: 'index-stats', ...sumTotals(answers), warnings: mergeWarnings(answers) };
}
