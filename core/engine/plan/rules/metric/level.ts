import { detectedLevelName } from '../../../../victoria/names/level.js';
import { countOf, metricRule } from './metric-rule.js';

export const metricLevel = metricRule({
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
  emit: (count) => count,
});
