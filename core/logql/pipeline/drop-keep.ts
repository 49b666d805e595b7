import type { DropStage, KeepStage, LabelItem } from '../ast.js';
import type { Meter } from './meter.js';
import type { SlotTable } from './slot-table.js';
import type { Slot } from './slot.js';
import type { TextTest } from './filter-test.js';
import { compileMatcherTest } from './text-test.js';
import type { RunStage, WorkLine } from './work-line.js';
import { errorDetailsLabel, errorLabel, preserveErrorLabel } from './types.js';

/** `| drop`: with a matcher, only where the value matches. The details of an error are a separate label. */
export function compileDrop({ items }: DropStage, slots: SlotTable, meter: Meter): RunStage {
  const drops = items.map((item) => compileDropItem(item, slots, meter));
  return (work) => {
    for (const drop of drops) drop(work);
    return true;
  };
}

function compileDropItem(
  { name, matcher }: LabelItem,
  slots: SlotTable,
  meter: Meter,
): (work: WorkLine) => void {
  const test = matcher === undefined ? () => true : compileMatcherTest(matcher.op, matcher.value, meter);
  if (name === errorLabel) {
    return (work) => {
      if (test(work.error)) work.error = '';
    };
  }
  if (name === errorDetailsLabel) {
    return (work) => {
      if (test(work.errorDetails)) work.errorDetails = '';
    };
  }
  const slot = slots.pin(name);
  return (work) => {
    const value = work.get(slot);
    // A matcher takes a missing label for an empty one, and deletes it too: it then stays away from a grouping.
    if (matcher !== undefined ? test(value ?? '') : value !== undefined) work.delete(slot);
  };
}

/** Nanoseconds per label. */
const keepCost = 200;

/** `| keep`: deletes all other labels except errors. */
export function compileKeep({ items }: KeepStage, slots: SlotTable, meter: Meter): RunStage {
  const tests = new Map<Slot, TextTest[]>();
  for (const { name, matcher } of items) {
    const test = matcher === undefined ? () => true : compileMatcherTest(matcher.op, matcher.value, meter);
    const slot = slots.pin(name);
    tests.set(slot, [...(tests.get(slot) ?? []), test]);
  }
  const hasMatcher = items.some(({ matcher }) => matcher !== undefined);
  const special = new Set([errorLabel, errorDetailsLabel, preserveErrorLabel].map((name) => slots.pin(name)));
  const isKept = (slot: Slot, work: WorkLine): boolean => {
    // An item with a matcher also keeps a label without a name, which only blank JSON keys make.
    if (special.has(slot) || (hasMatcher && slot.name === '')) return true;
    const own = tests.get(slot);
    return own?.some((test) => test(work.get(slot) ?? '')) === true;
  };
  return (work) => {
    meter.charge(keepCost * work.touchedCount);
    for (const slot of work.visible()) if (!isKept(slot, work)) work.delete(slot);
    return true;
  };
}
