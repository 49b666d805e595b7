import type { Stage } from '../ast.js';
import { compileComparison, isComparison } from './label-comparison.js';
import type { Meter } from './meter.js';
import type { SlotTable } from './slot-table.js';

/**
 * Lets parsers compare a label as soon as they have it: the first comparison of the query with that label alone, wherever it is in the
 * query. Loki does this to finish a line early, and it is visible: `| logfmt | label_format level="x" | level="x"` keeps no line in which
 * logfmt finds another level.
 */
export function addChecks(stages: readonly Stage[], slots: SlotTable, meter: Meter): void {
  for (const stage of stages) {
    if (stage.kind !== 'label-filter') continue;
    const { filter } = stage;
    if (isComparison(filter)) slots.pin(filter.name).check ??= compileComparison(filter, slots, meter);
  }
}
