import type { DropStage, LabelItem } from '../ast.js';
import type { Meter, WorkLine } from '../pipeline/work-line.js';
import type { SlotTable } from '../pipeline/slot.js';
import { compileMatcherTest } from '../pipeline/filter-test.js';
import { errorDetailsLabel, errorLabel } from '../pipeline/types.js';
import { stage } from '../syntax/log-rules.js';
import { grammar, stageWord } from '../syntax/tokens.js';
import { addItemRules, itemNames, items, itemTraits, printItems } from './label-items.js';
import type { StageDescriptor } from './stage.js';

/** `| drop`: with a matcher, only where the value matches. The details of an error are a separate label. */
export const drop: StageDescriptor<DropStage> = {
  ...itemTraits,
  word: 'drop',
  addRules() {
    addItemRules();
    grammar.rule(stage)([stageWord('drop'), items], ([, list], span) => ({
      kind: 'drop',
      items: list,
      span,
    }));
  },
  print: (made) => `| drop ${printItems(made)}`,
  loses: itemNames,
  errors: ({ items: list }) => (list.some(dropsErrors) ? 'dropped' : 'kept'),
  compile({ items: list }, { slots, meter }) {
    const drops = list.map((item) => compileDropItem(item, slots, meter));
    return (work) => {
      for (const drop of drops) drop(work);
      return true;
    };
  },
};

function dropsErrors({ name, matcher }: LabelItem): boolean {
  return name === errorLabel && matcher === undefined;
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
    // A matcher takes a missing label for an empty one and deletes it too; it is then left out of a grouping.
    if (matcher !== undefined ? test(value ?? '') : value !== undefined) work.delete(slot);
  };
}
