import { ofKey } from '../../../base/memory/byte-lru.js';
import { addTo } from '../../../base/order.js';
import { spreadShards } from './spread-shards.js';
import { byVolume } from './volume-order.js';
import { eachStep, sortSteps, type Steps } from '../../../base/pace/steps.js';
import type {
  DetectedField,
  DetectedFieldsAnswer,
  DetectedFieldValuesAnswer,
  DetectedLabelsAnswer,
  PatternResult,
  PatternsAnswer,
  ShardsAnswer,
  VolumeAnswer,
} from '../types.js';
import { joinSeries, mergeStats, mergeWarnings, sumTotals } from './shared.js';

/** Sums volumes of equal labels at equal times. Does not apply the limit: only the caller knows when all parts have been merged. */
export function* mergeVolume(answers: readonly VolumeAnswer[]): Steps<VolumeAnswer> {
  const series = yield* joinSeries(answers, (a, b) => a + b);
  return {
    kind: 'volume',
    series: yield* sortSteps(series, byVolume),
    stats: mergeStats(answers.map(({ stats }) => stats)),
    warnings: mergeWarnings(answers),
  };
}

/**
 * The union of fields, in order of appearance. Type and path come from the last part that has them, as they come from the last line within
 * a part. Does not apply the limit.
 */
export function* mergeDetectedFields(answers: readonly DetectedFieldsAnswer[]): Steps<DetectedFieldsAnswer> {
  const byLabel = new Map<string, DetectedField>();
  for (const field of answers.flatMap(({ fields }) => fields)) {
    const known = byLabel.get(field.label);
    byLabel.set(field.label, known === undefined ? field : joinFields(known, field));
    yield;
  }
  return {
    kind: 'detected-fields',
    fields: [...byLabel.values()],
    limit: limitOf(answers),
    warnings: mergeWarnings(answers),
  };
}

function joinFields(first: DetectedField, second: DetectedField): DetectedField {
  return {
    ...second,
    parsers: [...new Set([...first.parsers, ...second.parsers])],
    jsonPath: second.jsonPath ?? first.jsonPath,
    values: [...new Set([...first.values, ...second.values])],
  };
}

/** The union of values, in order of appearance. Does not apply the limit. */
export function* mergeDetectedFieldValues(
  answers: readonly DetectedFieldValuesAnswer[],
): Steps<DetectedFieldValuesAnswer> {
  const all = new Set<string>();
  for (const { values } of answers) yield* eachStep(values, (value) => all.add(value));
  return {
    kind: 'detected-field-values',
    values: [...all],
    limit: limitOf(answers),
    warnings: mergeWarnings(answers),
  };
}

function limitOf(answers: readonly { readonly limit: number }[]): number {
  return Math.max(0, ...answers.map(({ limit }) => limit));
}

export function* mergeDetectedLabels(answers: readonly DetectedLabelsAnswer[]): Steps<DetectedLabelsAnswer> {
  const byLabel = new Map<string, Set<string>>();
  for (const { label, values } of answers.flatMap(({ labels }) => labels)) {
    const known = ofKey(byLabel, label, () => new Set());
    yield* eachStep(values, (value) => known.add(value));
  }
  const labels = [...byLabel].map(([label, values]) => ({ label, values: [...values] }));
  return { kind: 'detected-labels', labels, warnings: mergeWarnings(answers) };
}

/** Sums the lines of equal patterns of a level by time bucket. Does not apply the limit. */
export function* mergePatterns(answers: readonly PatternsAnswer[]): Steps<PatternsAnswer> {
  const byKey = new Map<string, PatternResult[]>();
  yield* eachStep(
    answers.flatMap(({ patterns }) => patterns),
    (result) => {
      addTo(byKey, JSON.stringify([result.level ?? null, result.pattern]), result);
    },
  );
  const merged: PatternResult[] = [];
  for (const [first, ...others] of byKey.values()) {
    if (first !== undefined) merged.push(joinPatterns(first, others));
    yield;
  }
  const custom = merged.filter(({ level }) => level === undefined);
  const found = merged
    .filter(({ level }) => level !== undefined)
    .map((result) => ({ result, lines: linesOf(result) }));
  // Ties are sorted by text, so that the order does not depend on the order of merging.
  const sorted = yield* sortSteps(
    found,
    (a, b) => b.lines - a.lines || (textOf(a.result) < textOf(b.result) ? -1 : 1),
  );
  return {
    kind: 'patterns',
    patterns: [...custom, ...sorted.map(({ result }) => result)],
    warnings: mergeWarnings(answers),
  };
}

function textOf({ pattern, level = '' }: PatternResult): string {
  return `${pattern}\n${level}`;
}

function joinPatterns(first: PatternResult, others: readonly PatternResult[]): PatternResult {
  if (others.length === 0) return first;
  const counts = new Map<number, number>();
  for (const [seconds, count] of [first, ...others].flatMap(({ samples }) => samples))
    counts.set(seconds, (counts.get(seconds) ?? 0) + count);
  return { ...first, samples: [...counts].sort(([a], [b]) => a - b) };
}

function linesOf({ samples }: PatternResult): number {
  return samples.reduce((sum, [, count]) => sum + count, 0);
}

/** Takes the shard count of the part with the most shards and spreads the sum of all parts over it. */
export function mergeShards(answers: readonly ShardsAnswer[]): ShardsAnswer {
  const totals = sumTotals(answers.flatMap(({ shards }) => shards));
  const count = Math.max(1, ...answers.map(({ shards }) => shards.length));
  return { kind: 'shards', shards: spreadShards(totals, count), warnings: mergeWarnings(answers) };
}
