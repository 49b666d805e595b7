import type { LabelFilter } from '../ast.js';
import { visit } from '../walk.js';
import { compileComparison, isComparison, passesAlways } from './label-comparison.js';
import type { Meter } from './meter.js';
import type { SlotTable } from './slot-table.js';
import type { RunStage } from './work-line.js';

/** Jump targets that end a filter. */
const passes = -1;
const fails = -2;

/** One comparison and the next step for either result. */
interface Step {
  readonly test: RunStage;
  readonly onTrue: number;
  readonly onFalse: number;
}

interface Pending {
  readonly node: LabelFilter;
  readonly parent: 'and' | 'or' | undefined;
  readonly onTrue: number;
  readonly onFalse: number;
}

/**
 * Compiles a label filter to a list of comparisons with jumps, evaluated from left to right and only as far as needed. Neither compiling
 * nor running uses call depth, however deep a query nests.
 */
export function compileLabelFilter(filter: LabelFilter, slots: SlotTable, meter: Meter): RunStage {
  if (isComparison(filter)) return compileComparison(filter, slots, meter);
  // Built from right to left: the last step made is the first of what follows the next one.
  const steps: Step[] = [];
  const pending: Pending[] = [{ node: filter, parent: undefined, onTrue: passes, onFalse: fails }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { node, parent } = next;
    const behind = steps.length - 1;
    const onTrue = parent === 'and' ? behind : next.onTrue;
    const onFalse = parent === 'or' ? behind : next.onFalse;
    if (isComparison(node)) {
      steps.push({ test: compileComparison(node, slots, meter), onTrue, onFalse });
    } else {
      pending.push({ node: node.left, parent: node.kind, onTrue, onFalse });
      pending.push({ node: node.right, parent: undefined, onTrue, onFalse });
    }
  }
  return (work) => {
    let at = steps.length - 1;
    while (at >= 0) {
      const step = steps[at];
      if (step === undefined) return false;
      at = step.test(work) ? step.onTrue : step.onFalse;
    }
    return at === passes;
  };
}

/** The names that a filter reads. */
export function labelFilterNames(filter: LabelFilter): readonly string[] {
  const names: string[] = [];
  visit(filter, (node) => {
    if (!('op' in node) || !('name' in node)) return;
    if (node.kind === 'matcher' || !passesAlways(node)) names.push(node.name);
  });
  return names;
}
