import { dropsErrors, jsonNames } from '../../json-leaf.js';
import { countOf, metricRule } from './metric-rule.js';

export const metricJson = metricRule({
  id: 'metricJson',
  construct: 'sum by (a) (count_over_time(... | json [..])) and others that count, also with | a="v"',
  backend:
    'unpack_json fields (a); extract to find lines in which the key stands more than once; stats by (a, the line where it is not certain) count(); without the lines where all of a selection have been certain before',
  verdict: 'superset',
  reason:
    'a key that stands once in a valid object without escapes is the label; all other lines come as they are, grouped when equal. Rows are read instead when there are too many groups, or lines with keys or numbers that are no JSON',
  example: 'sum by (user) (count_over_time({namespace="shop"} | json [5m]))',
  match: (facts) => {
    const { names, stages, lineStages } = facts;
    if (names === 'all' || lineStages.length === 0) return undefined;
    const [count, fromJson] = [countOf(facts), jsonNames(names)];
    if (count === undefined || fromJson === undefined) return undefined;
    return { ...count, fromJson, dropsErrors: dropsErrors(stages, names) };
  },
  emit: (count) => count,
});
