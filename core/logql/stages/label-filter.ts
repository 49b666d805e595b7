import { quoteGo } from '../../base/label-set.js';
import { formatFloatPlain, printGoDuration } from '../../base/time/index.js';
import type { LabelFilter, LabelFilterStage, Matcher, Span, Stage, StringLabelFilter } from '../ast.js';
import { ipFault } from '../check/faults.js';
import {
  compileComparison,
  isComparison,
  type LabelComparison,
  passesAlways,
} from '../pipeline/label-comparison.js';
import type { Meter, RunStage } from '../pipeline/work-line.js';
import { simplifiedRegexp } from '../pipeline/regexp-simplification.js';
import type { SlotTable } from '../pipeline/slot.js';
import { labelFilter as filterNode, stage } from '../syntax/log-rules.js';
import { grammar } from '../syntax/tokens.js';
import { formatBytes } from '../values/bytes.js';
import { firstRawByte } from '../values/raw-bytes.js';
import { alternativesIn, type StageDescriptor, usualTraits } from './stage.js';

/** Names may contain dots in the dialect with dotted names only; Loki's own names have none. */
const bareName = /^[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*$/;

/** True when a name is printed as it is. */
export function isBareName(name: string): boolean {
  return bareName.test(name);
}

/** `name="value"`; a name that is not plain ASCII is quoted, as Loki does although it cannot parse that. */
export function printMatcher({ name, op, value }: Pick<Matcher, 'name' | 'op' | 'value'>): string {
  return `${isBareName(name) ? name : quoteGo(name)}${op}${quoteGo(value)}`;
}

/** Prints a tree as Loki does: `( a , b )` for and, `( a or b )` for or; sizes and durations in their short forms. */
export function printLabelFilter(filter: LabelFilter): string {
  switch (filter.kind) {
    case 'and':
      return `( ${printLabelFilter(filter.left)} , ${printLabelFilter(filter.right)} )`;
    case 'or':
      return `( ${printLabelFilter(filter.left)} or ${printLabelFilter(filter.right)} )`;
    case 'string':
      return isCompiled(filter) ? `${filter.name}=~\`${filter.value}\`` : printMatcher(filter);
    case 'number':
      return `${filter.name}${filter.op}${formatFloatPlain(filter.value)}`;
    case 'duration':
      return `${filter.name}${filter.op}${printGoDuration(filter.nanoseconds)}`;
    case 'bytes':
      return `${filter.name}${filter.op}${formatBytes(filter.bytes)}`;
    case 'ip':
      return `${filter.name}${filter.op}ip(${quoteGo(filter.value)})`;
  }
}

/** True if Loki keeps a filter as a compiled regexp instead of simpler tests; it is then quoted differently. */
function isCompiled({ op, value }: StringLabelFilter): boolean {
  return (
    op === '=~' &&
    !value.includes('`') &&
    firstRawByte(value) < 0 &&
    simplifiedRegexp(value, true) === undefined
  );
}

/** `| name="value"` and its like. */
export const labelFilter: StageDescriptor<LabelFilterStage> = {
  ...usualTraits,
  word: undefined,
  addRules() {
    grammar.rule(stage)([filterNode], ([filter], span) => ({ kind: 'label-filter', filter, span }));
  },
  print: ({ filter }) => `| ${printLabelFilter(filter)}`,
  // Loki only checks the top of a filter tree: an invalid address deeper inside passes.
  checks: ({ filter }) => (filter.kind === 'ip' ? [() => ipFault(filter.value)] : []),
  size: ({ filter }) => ({
    alternatives: comparisonsIn(filter).reduce((sum, one) => sum + alternativesOf(one), 0),
  }),
  children: ({ filter }) => [filter],
  rename: (made, nameOf) => mapComparisons(made, (one) => ({ ...one, name: nameOf(one.name) })),
  exact: (made) => mapComparisons(made, (one) => (one.kind === 'string' ? { ...one, isExact: true } : one)),
  order: 'barrier',
  comparisons: ({ filter }) => comparisonsIn(filter),
  errors: ({ filter }) => (comparesTexts(filter) ? 'kept' : 'made'),
  isFilter: () => true,
  compile: ({ filter }, { slots, meter }) => compileLabelFilter(filter, slots, meter),
  hintedNames: ({ filter }) => namesOf(comparisonsIn(filter).filter((one) => !passesAlways(one))),
  names: ({ filter }) => namesOf(comparisonsIn(filter)),
  groupNames: ({ filter }) => namesOf(comparisonsIn(filter)),
  whyHere: undefined,
};

/** The comparisons of a filter from left to right, collected without recursion. */
function comparisonsIn(filter: LabelFilter): readonly LabelComparison[] {
  const found: LabelComparison[] = [];
  const pending = [filter];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (isComparison(next)) found.push(next);
    else pending.push(next.right, next.left);
  }
  return found;
}

function mapComparisons(
  made: LabelFilterStage,
  change: (one: LabelComparison) => LabelComparison,
): LabelFilterStage {
  const changed = (filter: LabelFilter): LabelFilter =>
    isComparison(filter)
      ? change(filter)
      : { ...filter, left: changed(filter.left), right: changed(filter.right) };
  return { ...made, filter: changed(made.filter) };
}

function namesOf(comparisons: readonly LabelComparison[]): readonly string[] {
  return comparisons.map(({ name }) => name);
}

function alternativesOf(one: LabelComparison): number {
  return one.kind === 'string' && one.op.endsWith('~') ? alternativesIn(one.value) : 0;
}

/** True if all comparisons are of texts: others may leave an error behind. */
export function comparesTexts(filter: LabelFilter): boolean {
  return comparisonsIn(filter).every(({ kind }) => kind === 'string');
}

/**
 * Makes parsers compare a label as soon as they have its value: with the first comparison of the query on that label alone, wherever it is
 * in the query. Loki does this to finish a line early, and it is visible: `| logfmt | label_format level="x" | level="x"` keeps no line in
 * which logfmt finds another level.
 */
export function addChecks(stages: readonly Stage[], slots: SlotTable, meter: Meter): void {
  const comparisons: LabelComparison[] = [];
  for (const stage of stages) {
    if (stage.kind === 'label-filter' && isComparison(stage.filter)) comparisons.push(stage.filter);
  }
  // Loki lists the names without the filters that match everything, but the filters with them: after such a filter, a name gets the
  // comparison before its own.
  const named = comparisons.filter((filter) => !passesAlways(filter));
  for (const [index, { name }] of named.entries()) {
    const filter = comparisons[index];
    if (filter !== undefined) slots.pin(name).check ??= compileComparison(filter, slots, meter);
  }
}

/** A step of a filter. A comparison pushes its result; the other steps use the last results. */
type Step =
  | { readonly kind: 'compare'; readonly test: RunStage }
  /** The end of an `and`: true if both of the last two are. */
  | { readonly kind: 'both' }
  /** Between the sides of an `or`: jumps to its end if the left side is true, otherwise drops its result. */
  | { readonly kind: 'unless'; end: number };

interface EndOf {
  readonly kind: 'end';
  readonly of: { end: number };
}

/**
 * Compiles a label filter to a list of steps from left to right. As in Loki, `or` skips its right side if the left one is true, but `and`
 * always runs both: either may mark the line with an error, which stays even if another `or` passes the line. Neither compiling nor running
 * needs call depth, however deep a query nests.
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

/** A filter for lines with a value in a label. */
export function withLabel(name: string, span: Span): LabelFilterStage {
  return { kind: 'label-filter', filter: { kind: 'string', name, op: '!=', value: '', span }, span };
}
