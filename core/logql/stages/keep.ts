import type { KeepStage } from '../ast.js';
import { compileMatcherTest, type TextTest } from '../pipeline/filter-test.js';
import type { Slot } from '../pipeline/slot.js';
import { errorDetailsLabel, errorLabel, preserveErrorLabel } from '../pipeline/types.js';
import type { WorkLine } from '../pipeline/work-line.js';
import { stage } from '../syntax/log-rules.js';
import { grammar, stageWord } from '../syntax/tokens.js';
import { items, itemTraits, printItems } from './label-items.js';
import type { StageDescriptor } from './stage.js';

/** Nanoseconds per label. */
const keepCost = 200;

/** `| keep`: deletes all other labels except errors. */
export const keep: StageDescriptor<KeepStage> = {
  ...itemTraits,
  word: 'keep',
  addRules() {
    grammar.rule(stage)([stageWord('keep'), items], ([, list], span) => ({
      kind: 'keep',
      items: list,
      span,
    }));
  },
  print: (made) => `| keep ${printItems(made)}`,
  loses: () => 'all',
  compile({ items: list }, { slots, meter }) {
    const tests = new Map<Slot, TextTest[]>();
    for (const { name, matcher } of list) {
      const test = matcher === undefined ? () => true : compileMatcherTest(matcher.op, matcher.value, meter);
      const slot = slots.pin(name);
      tests.set(slot, [...(tests.get(slot) ?? []), test]);
    }
    const hasMatcher = list.some(({ matcher }) => matcher !== undefined);
    const special = new Set(
      [errorLabel, errorDetailsLabel, preserveErrorLabel].map((name) => slots.pin(name)),
    );
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
  },
};
