import type { Stage } from '../../../logql/ast.js';
import { detectedLevelName } from '../../../victoria/names/level.js';
import type { LeafCount } from '../columns.js';
import type { Extraction } from '../../../logql/stages/stage.js';
import { kindOfRule } from './rule.js';

/** Facts about a range aggregation that determine whether the backend can count its samples. */
export interface LeafFacts extends Pick<LeafCount, 'names' | 'stageNames' | 'stages'> {
  /** Undefined for functions of values. */
  readonly measure: LeafCount['measure'] | undefined;
  /** Stages that read or change the line, or whose templates read more than single labels. */
  readonly lineStages: readonly Stage[];
  /** The labels that come from lines; undefined unless `| json`, `| logfmt` or `| pattern` is the one stage that reads them. */
  readonly fromLines: Required<Pick<LeafCount, 'parsed' | 'dropsErrors'>> | undefined;
}

/**
 * Defines a rule about a range aggregation. With the verdict exact, the groups of the backend decide everything; with superset, some lines
 * must be inspected.
 */
const metricRule = kindOfRule<LeafFacts, LeafCount>();

/** The rules about what the backend counts instead of sending rows, in the order they are tried. */
export const metricRules = [
  metricRule({
    id: 'metricUnwrap',
    construct: 'unwrap',
    backend:
      'rows with a field of the label; after json, logfmt or pattern: the relevant labels instead of the line, if they are certain, as for metricJson and others; for quantiles, minima and maxima, the collected values of each group',
    verdict: 'none',
    reason: 'numbers, durations and sizes are parsed differently, and invalid values are errors',
    example: 'sum(sum_over_time({namespace="shop"} | unwrap took [5m]))',
    match: ({ measure }) => measure === undefined,
  }),
  metricRule({
    id: 'metricStages',
    construct:
      'stages in a range aggregation that read or change the line, or labels through templates that read more than single labels',
    verdict: 'none',
    reason: 'the value of a row is known only after reading its line',
    example: 'sum by (user) (count_over_time({namespace="shop"} | unpack [5m]))',
    match: ({ lineStages, fromLines }) => lineStages.length > 0 && fromLines === undefined,
  }),
  metricRule({
    id: 'metricIdentity',
    construct: 'count_over_time(...) and others without sum by (...) around them',
    backend: 'stats by (_stream, all stored fields) count() or sum_len(_msg), levels as above',
    verdict: 'superset',
    reason:
      'every combination of structured metadata is a separate series; with too many of them (such as trace ids), rows are read instead',
    example: 'count_over_time({namespace="shop"}[5m])',
    match: (facts) => (facts.names === 'all' && facts.fromLines === undefined ? countOf(facts) : undefined),
  }),
  metricRule({
    id: 'metricJson',
    construct:
      'sum by (a) (count_over_time(... | json [..])) and other counting functions, also with | a="v"',
    backend:
      'unpack_json fields (a); extract to find lines with a duplicate key; stats by (a, the line if uncertain) count(); without lines if all lines of the selection were certain before',
    verdict: 'superset',
    reason:
      'a key, or a path of keys, that occurs once in a valid object is the label, if no escape can hide another such key; all other lines are returned unchanged, with equal lines grouped. Rows are read instead if there are too many groups, or lines with invalid JSON keys or numbers',
    example: 'sum by (user) (count_over_time({namespace="shop"} | json [5m]))',
    match: (facts) => parsedCountOf(facts, 'json-keys', 'json-paths'),
  }),
  metricRule({
    id: 'metricLogfmt',
    construct:
      'sum by (a) (count_over_time(... | logfmt [..])) and other counting functions, also with | a="v"',
    backend:
      'extract the value of a and the text around it; stats by (a, the line if uncertain) count(); without lines if all lines of the selection were certain before',
    verdict: 'superset',
    reason:
      'a key that stands between a blank and `=` once, outside of quotes, is the label; all other lines are returned unchanged, with equal lines grouped. Rows are read instead if there are too many groups',
    example: 'sum by (user) (count_over_time({namespace="shop"} | logfmt [5m]))',
    match: (facts) => parsedCountOf(facts, 'pair-keys'),
  }),
  metricRule({
    id: 'metricJsonLogfmt',
    construct: 'sum by (a) (count_over_time(... | json | logfmt [..])) and other counting functions',
    backend: 'as for | json if most lines of a sample start with {, else as for | logfmt',
    verdict: 'superset',
    reason:
      'a line that does not start with { has no labels from | json, and one without `a=` has none from | logfmt; all other lines are returned unchanged, with equal lines grouped. Rows are read instead if there are too many groups',
    example:
      'sum by (user) (count_over_time({namespace="shop"} | json | logfmt | drop __error__, __error_details__ | user!="" [5m]))',
    match: (facts) => parsedCountOf(facts, 'json-then-pairs'),
  }),
  metricRule({
    id: 'metricPattern',
    construct:
      'sum by (a) (count_over_time(... | pattern "... <a> ..." [..])) and other counting functions, also with | a="v"',
    backend:
      'extract with the same pattern; stats by (a, the line if uncertain) count(); without lines if all lines of the selection were certain before',
    verdict: 'superset',
    reason:
      'a line with all literal texts of the pattern, the first one at its start, is cut in the same places; all other lines are returned unchanged, with equal lines grouped. Rows are read instead if there are too many groups',
    example: 'sum by (status) (count_over_time({namespace="shop"} | pattern "<_> <status> <_>" [5m]))',
    match: (facts) => parsedCountOf(facts, 'captures'),
  }),
  metricRule({
    id: 'metricRegexp',
    construct:
      'sum by (a) (count_over_time(... | regexp "...(?P<a>...)" [..])) and other counting functions, also with | a="v"',
    backend:
      'extract_regexp with the same regexp; stats by (a, the line if uncertain) count(); without lines if all lines of the selection were certain before',
    verdict: 'superset',
    reason:
      'both use the first match of RE2 syntax; lines that match without a value for every needed group are returned unchanged, with equal lines grouped, unless every match has them. Rows are read instead if there are too many groups',
    example:
      'sum by (status) (count_over_time({namespace="shop"} | regexp "status=(?P<status>[0-9]+)" [5m]))',
    match: (facts) => parsedCountOf(facts, 'groups'),
  }),
  metricRule({
    id: 'metricLevel',
    construct: 'sum by (detected_level) (...), | detected_level="v" before it',
    backend:
      'extract the level with the text before and behind it, or the first level word; stats by (the level, stored level fields) count()',
    verdict: 'superset',
    reason:
      'the backend applies the rules by which Loki finds a level, with filters that also match some lines whose level it cannot tell; such lines are sent whole, and the proxy finds their level',
    example: 'sum by (detected_level) (count_over_time({namespace="shop"}[1m]))',
    match: (facts) =>
      facts.names !== 'all' && facts.names.has(detectedLevelName) ? countOf(facts) : undefined,
  }),
  metricRule({
    id: 'metricAbsent',
    construct: 'absent_over_time(...)',
    backend: 'stats by (_stream) count(), in buckets of gcd(range, step)',
    verdict: 'exact',
    reason: 'it only matters whether there are rows',
    example: 'absent_over_time({namespace="shop"}[5m])',
    match: (facts) => (facts.measure === 'presence' ? countOf(facts) : undefined),
  }),
  metricRule({
    id: 'metricGroups',
    construct: 'sum by (a, b) (count_over_time(...)), rate, bytes_over_time, bytes_rate',
    backend: 'stats by (fields of a and b) count() or sum_len(_msg), in buckets of gcd(range, step)',
    verdict: 'exact',
    reason:
      'sums over buckets add up to windows; the proxy makes the labels from the groups, by _stream if fields do not determine the labels of all streams; duplicate rows are subtracted, and rows without a line are counted by their fields, or as lines that fields and pack_json rebuild',
    example: 'sum by (pod) (rate({namespace="shop"} |= "timeout" [5m]))',
    match: countOf,
  }),
];

/** The count by the labels of a parser; undefined if another parser reads the lines. */
function parsedCountOf(facts: LeafFacts, ...ways: readonly Extraction['from'][]): LeafCount | undefined {
  const { fromLines } = facts;
  if (fromLines === undefined || !ways.includes(fromLines.parsed.parser.from)) return undefined;
  const count = countOf(facts);
  return count && { ...count, ...fromLines };
}

/** The count by groups alone; undefined for functions of values. */
function countOf({ measure, names, stageNames, stages }: LeafFacts): LeafCount | undefined {
  return measure === undefined ? undefined : { measure, names, stageNames, stages };
}
