import type { LabelFilter } from '../../logql/ast.js';
import { isComparison } from '../../logql/pipeline/label-comparison.js';
import { comparesTexts } from '../../logql/stages/label-filter.js';
import type { LogsqlFilter } from '../../victoria/logsql/ast.js';
import { and, everything, or } from '../../victoria/logsql/build.js';
import type { KnownNames } from './known-names.js';
import type { AppliedRule } from './rules/index.js';
import { labelDeep, labelRules, type LabelScope, type PlacedComparison } from './rules/label.js';
import { firstRule } from './rules/rule.js';

/** The decision about a label filter. */
export interface DecidedLabels {
  readonly rule: AppliedRule;
  /** Makes the backend filter from the stored names; undefined if there is no filter for any names. */
  readonly ask: AskLabels | undefined;
}

/** A filter for all rows that pass, and perhaps more: everything where nothing can be asked for. */
export type AskLabels = (names: KnownNames) => LogsqlFilter;

/** Decides how a label filter is pushed down (docs/protocol/logql-to-logsql.md#label-filters). */
export function decideLabelFilter(
  filter: LabelFilter,
  scope: LabelScope,
  mayHaveFailed: boolean,
): DecidedLabels {
  if (labelDeep.apply(filter) !== undefined) return { rule: labelDeep, ask: undefined };
  return decideTree(filter, scope, mayHaveFailed);
}

function decideTree(filter: LabelFilter, scope: LabelScope, mayHaveFailed: boolean): DecidedLabels {
  if (isComparison(filter)) return decideComparison({ comparison: filter, scope, mayHaveFailed });
  const left = decideTree(filter.left, scope, mayHaveFailed);
  // The left side may have marked the row with an error.
  const right = decideTree(filter.right, scope, mayHaveFailed || !comparesTexts(filter.left));
  if (filter.kind === 'or') {
    if (left.ask === undefined || right.ask === undefined) return left.ask === undefined ? left : right;
    return { rule: left.rule, ask: joined(or, left.ask, right.ask) };
  }
  if (left.ask === undefined || right.ask === undefined) return left.ask === undefined ? right : left;
  return { rule: left.rule, ask: joined(and, left.ask, right.ask) };
}

function decideComparison(placed: PlacedComparison): DecidedLabels {
  const { rule, emit } = firstRule(labelRules, placed);
  return { rule, ask: emit && ((names) => emit(names) ?? everything) };
}

function joined(join: typeof and, left: AskLabels, right: AskLabels): AskLabels {
  return (names) => join(left(names), right(names));
}
