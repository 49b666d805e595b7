import type { Stage } from '../ast.js';
import { compileComparison, isComparison } from './label-comparison.js';
import type { Meter } from './meter.js';
import type { SlotTable } from './slot-table.js';

/**
 * Lets parsers compare labels as soon as they have them: the first comparison that the query makes with a label alone, wherever it
 * stands. Loki does so to be done with a line early, and it shows: `| logfmt | label_format level="x" | level="x"` keeps no
 * line in which logfmt finds another level.
 */
export function addChecks(stages: readonly Stage[], slots: SlotTable, meter: Meter): void {
  for (const stage of stages) {
    if (stage.kind !== 'label-filter') continue;
    const { filter } = stage;
    if (isComparison(filter)) slots.pin(filter.name).check ??= compileComparison(filter, slots, meter);
  }
}
