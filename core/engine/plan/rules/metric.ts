import type { Stage } from '../../../logql/ast.js';
import { detectedLevelName } from '../../../victoria/names/level.js';
import type { LeafCount } from '../leaf-push.js';
import { kindOfRule, type PushdownRule, type RuleText } from './rule.js';

/** Facts about a range aggregation that determine whether the backend can count its samples. */
export interface LeafFacts extends Pick<LeafCount, 'names' | 'stageNames' | 'stages'> {
  /** Undefined for functions of values. */
  readonly measure: LeafCount['measure'] | undefined;
  /** Stages that read or change the line, or make labels from templates. */
  readonly lineStages: readonly Stage[];
  /** The labels that come from lines; undefined unless `| json` is the one stage that reads them. */
  readonly json: Pick<LeafCount, 'fromJson' | 'dropsErrors'> | undefined;
}

/**
 * Defines a rule about a range aggregation. With the verdict exact, the groups of the backend decide everything; with superset, some lines
 * must be inspected.
 */
const metricRule = kindOfRule<LeafFacts, LeafCount>();

/** Defines a rule with the verdict `exact` or `superset`; the matching leaf is counted. */
function countingRule<const Id extends string>(
  rule: RuleText<Id> & {
    readonly verdict: 'exact' | 'superset';
    readonly match: (facts: LeafFacts) => LeafCount | undefined;
  },
): PushdownRule<LeafFacts, [], LeafCount, Id> {
  return metricRule({ ...rule, emit: (count: LeafCount) => count });
}

/** The rules about what the backend counts instead of sending rows, in the order they are tried. */
export const metricRules = [
  metricRule({
    id: 'metricUnwrap',
    construct: 'unwrap',
    backend:
      'behind json: the labels that matter instead of the line, where they are certain, as for metricJson; for quantiles, minima and maxima the values of each group, gathered',
    verdict: 'none',
    reason: 'numbers, durations and sizes are read differently, and values that are none are errors',
    example: 'sum(sum_over_time({namespace="shop"} | unwrap took [5m]))',
    match: ({ measure }) => measure === undefined,
  }),
  metricRule({
    id: 'metricStages',
    construct: 'stages that read or change the line, or labels by templates, in a range aggregation',
    verdict: 'none',
    reason: 'what a row counts for is known only when its line was read',
    example: 'sum by (user) (count_over_time({namespace="shop"} | logfmt [5m]))',
    match: ({ lineStages, json }) => lineStages.length > 0 && json === undefined,
  }),
  countingRule({
    id: 'metricIdentity',
    construct: 'count_over_time(...) and others without sum by (...) around them',
    backend: 'stats by (_stream, all stored fields) count() or sum_len(_msg), levels as above',
    verdict: 'superset',
    reason:
      'every combination of structured metadata is a series of its own; with too many of them (a trace id) rows are read instead',
    example: 'count_over_time({namespace="shop"}[5m])',
    match: (facts) => (facts.names === 'all' ? countOf(facts) : undefined),
  }),
  countingRule({
    id: 'metricJson',
    construct: 'sum by (a) (count_over_time(... | json [..])) and others that count, also with | a="v"',
    backend:
      'unpack_json fields (a); extract to find lines in which the key stands more than once; stats by (a, the line where it is not certain) count(); without the lines where all of a selection have been certain before',
    verdict: 'superset',
    reason:
      'a key that stands once in a valid object without escapes is the label; all other lines come as they are, grouped when equal. Rows are read instead when there are too many groups, or lines with keys or numbers that are no JSON',
    example: 'sum by (user) (count_over_time({namespace="shop"} | json [5m]))',
    match: (facts) => {
      const count = countOf(facts);
      return facts.json && count && { ...count, ...facts.json };
    },
  }),
  countingRule({
    id: 'metricLevel',
    construct: 'sum by (detected_level) (...), | detected_level="v" in front of it',
    backend:
      'extract what stands in front of a level, and the level; collapse_nums; stats by (these, stored level fields) count()',
    verdict: 'superset',
    reason:
      'lines that begin alike have one level where nothing behind it can change it, which is decided here for each group; the lines of other groups come as rows of _time, _stream and _msg',
    example: 'sum by (detected_level) (count_over_time({namespace="shop"}[1m]))',
    match: (facts) =>
      facts.names !== 'all' && facts.names.has(detectedLevelName) ? countOf(facts) : undefined,
  }),
  countingRule({
    id: 'metricAbsent',
    construct: 'absent_over_time(...)',
    backend: 'stats by (_stream) count(), in buckets of gcd(range, step)',
    verdict: 'exact',
    reason: 'only whether there are rows matters',
    example: 'absent_over_time({namespace="shop"}[5m])',
    match: (facts) => (facts.measure === 'presence' ? countOf(facts) : undefined),
  }),
  countingRule({
    id: 'metricGroups',
    construct: 'sum by (a, b) (count_over_time(...)), rate, bytes_over_time, bytes_rate',
    backend: 'stats by (fields of a and b) count() or sum_len(_msg), in buckets of gcd(range, step)',
    verdict: 'exact',
    reason:
      'sums over buckets add up to windows; labels are made of the groups here; by _stream where fields do not tell the labels of all streams; rows pushed twice and rows without a line are taken out and counted here',
    example: 'sum by (pod) (rate({namespace="shop"} |= "timeout" [5m]))',
    match: countOf,
  }),
];

/** The count by groups alone; undefined for functions of values. */
function countOf({ measure, names, stageNames, stages }: LeafFacts): LeafCount | undefined {
  return measure === undefined ? undefined : { measure, names, stageNames, stages };
}
