import type { Stage } from '../ast.js';
import { compileComparison, isComparison, passesAlways, type LabelComparison } from './label-comparison.js';
import type { Meter } from './meter.js';
import type { SlotTable } from './slot-table.js';

/**
 * Lets parsers compare a label as soon as they have it: the first comparison of the query with that label alone, wherever it is in the
 * query. Loki does this to finish a line early, and it is visible: `| logfmt | label_format level="x" | level="x"` keeps no line in which
 * logfmt finds another level.
 */
export function addChecks(stages: readonly Stage[], slots: SlotTable, meter: Meter): void {
  const comparisons: LabelComparison[] = [];
  for (const stage of stages) {
    if (stage.kind === 'label-filter' && isComparison(stage.filter)) comparisons.push(stage.filter);
  }
  // Loki lists the names without the filters that pass everything, and the filters with them: behind such a filter, a name gets the
  // comparison that stands before its own.
  const named = comparisons.filter((filter) => !passesAlways(filter));
  for (const [index, { name }] of named.entries()) {
    const filter = comparisons[index];
    if (filter !== undefined) slots.pin(name).check ??= compileComparison(filter, slots, meter);
  }
}
