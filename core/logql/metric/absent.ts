import { LabelSet } from '../../base/labels/label-set.js';
import type { Pacer } from '../../base/pace/pacer.js';
import { eachAtPace } from '../../base/pace/steps.js';
import type { RangeAggregation } from '../ast.js';
import type { Columns } from './columns.js';
import type { SeriesRow } from './types.js';

/** `absent_over_time` over the series of its samples: 1 wherever none of them has a sample. */
export async function absentRows(
  range: RangeAggregation,
  rows: Iterable<SeriesRow>,
  { count }: Columns,
  pacer: Pacer,
): Promise<readonly SeriesRow[]> {
  const present = new Uint8Array(count).fill(1);
  await eachAtPace(rows, pacer, (row) => {
    for (let column = 0; column < count; column += 1) if (row.present[column] === 1) present[column] = 0;
  });
  if (!present.includes(1)) return [];
  return [{ labels: absentLabels(range), values: new Float64Array(count).fill(1), present }];
}

/** The labels that the selector determines: those with an equality matcher and no other. */
export function absentLabels({ range }: RangeAggregation): LabelSet {
  const values = new Map<string, string>();
  const unclear = new Set<string>();
  for (const { name, op, value } of range.query.selector.matchers) {
    if (op === '=' && !values.has(name)) values.set(name, value);
    else unclear.add(name);
  }
  return LabelSet.from([...values].filter(([name, value]) => value !== '' && !unclear.has(name)));
}
