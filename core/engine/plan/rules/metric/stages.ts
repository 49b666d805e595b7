import { isWholeJson, jsonNames } from '../../json-leaf.js';
import { metricRule } from './metric-rule.js';

const nsPerMs = 1_000_000n;

export const metricStages = metricRule({
  id: 'metricStages',
  construct: 'stages that read or change the line, or labels by templates, in a range aggregation',
  backend: '',
  verdict: 'none',
  reason: 'what a row counts for is known only when its line was read',
  example: 'sum by (user) (count_over_time({namespace="shop"} | logfmt [5m]))',
  match: ({ range, names, lineStages }) => {
    // Windows are cut at milliseconds.
    if (range.range.intervalNanoseconds % nsPerMs !== 0n) return true;
    const [first, another] = lineStages;
    if (first === undefined) return false;
    return another !== undefined || !isWholeJson(first) || names === 'all' || jsonNames(names) === undefined;
  },
});
