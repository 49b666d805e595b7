import { LabelSet } from '../../../base/labels/label-set.js';
import { countState } from '../../metric/states.js';
import type { RangeAggregation } from '../../ast.js';
import type { RangeFunction } from './descriptor.js';

export const absentOverTime: RangeFunction = {
  parameter: 'refused',
  grouping: 'refused',
  ofLines: 'count',
  ofValues: 'times',
  work: countState,
  join: undefined,
  shards: 'never',
  ofNothing: absentLabels,
};

/** The labels that the selector determines: those with an equality matcher and no other. */
function absentLabels({ range }: RangeAggregation): LabelSet {
  const values = new Map<string, string>();
  const unclear = new Set<string>();
  for (const { name, op, value } of range.query.selector.matchers) {
    if (op === '=' && !values.has(name)) values.set(name, value);
    else unclear.add(name);
  }
  return LabelSet.from([...values].filter(([name, value]) => value !== '' && !unclear.has(name)));
}
