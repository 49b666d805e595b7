import type { LabelFilter } from '../ast.js';
import { visit } from '../walk.js';
import { compileComparison, isComparison, passesAlways, type LabelComparison } from './label-comparison.js';
import type { Meter } from './meter.js';
import type { SlotTable } from './slot-table.js';
import type { RunStage } from './work-line.js';

/** A step of a filter; a comparison leaves a result behind, the others look at the last ones. */
type Step =
  | { readonly kind: 'compare'; readonly test: RunStage }
  /** The end of an `and`: whether both of the last two are true. */
  | { readonly kind: 'both' }
  /** Between the sides of an `or`: goes on at its end when the left one is true, otherwise forgets it. */
  | { readonly kind: 'unless'; end: number };

interface EndOf {
  readonly kind: 'end';
  readonly of: { end: number };
}

/**
 * Compiles a label filter to a list of steps from left to right. As in Loki, `or` leaves out its right side when the left one is true, but
 * `and` always runs both: either may mark the line with an error, which stays when another `or` lets the line pass. Neither compiling nor
 * running uses call depth, however deep a query nests.
 */
export function compileLabelFilter(filter: LabelFilter, slots: SlotTable, meter: Meter): RunStage {
  if (isComparison(filter)) return compileComparison(filter, slots, meter);
  const steps = stepsOf(filter, (node) => compileComparison(node, slots, meter));
  const results: boolean[] = [];
  return (work) => {
    results.length = 0;
    for (let at = 0; at < steps.length; at += 1) {
      const step = steps[at];
      if (step?.kind === 'compare') {
        results.push(step.test(work));
      } else if (step?.kind === 'both') {
        const right = results.pop() === true;
        results.push(results.pop() === true && right);
      } else if (step !== undefined && results.at(-1) === true) {
        at = step.end - 1;
      } else {
        results.pop();
      }
    }
    return results[0] === true;
  };
}

function stepsOf(filter: LabelFilter, compile: (node: LabelComparison) => RunStage): readonly Step[] {
  const steps: Step[] = [];
  const pending: (LabelFilter | Step | EndOf)[] = [filter];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    switch (next.kind) {
      case 'and':
        pending.push({ kind: 'both' }, next.right, next.left);
        break;
      case 'or': {
        const between: Step & EndOf['of'] = { kind: 'unless', end: 0 };
        pending.push({ kind: 'end', of: between }, next.right, between, next.left);
        break;
      }
      case 'compare':
      case 'both':
      case 'unless':
        steps.push(next);
        break;
      case 'end':
        next.of.end = steps.length;
        break;
      default:
        steps.push({ kind: 'compare', test: compile(next) });
    }
  }
  return steps;
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
