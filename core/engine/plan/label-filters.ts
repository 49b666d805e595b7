import type { LabelFilter } from '../../logql/ast.js';
import { isComparison } from '../../logql/pipeline/label-comparison.js';
import { comparesTexts } from '../../logql/stages/label-filter.js';
import type { KnownNames } from './known-names.js';
import type { AppliedRule } from './rules/index.js';
import { labelDeep, labelRules, type LabelScope, type PlacedComparison } from './rules/label.js';
import { type PushedFilter, both, either, firstRule, unfiltered } from './rules/rule.js';

/** The decision about a label filter. */
export interface DecidedLabels {
  readonly rule: AppliedRule;
  /** Makes the backend query once the stored names are known; undefined where there is none, whatever they are. */
  readonly ask: AskLabels | undefined;
}

export type AskLabels = (names: KnownNames) => PushedFilter;

/** Decides how a label filter goes to the backend (docs/protocol/logql-to-logsql.md#label-filters). */
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
    return { rule: left.rule, ask: joined(either, left.ask, right.ask) };
  }
  if (left.ask === undefined || right.ask === undefined) return left.ask === undefined ? right : left;
  return { rule: left.rule, ask: joined(both, left.ask, right.ask) };
}

function decideComparison(placed: PlacedComparison): DecidedLabels {
  const { rule, emit } = firstRule(labelRules, placed);
  if (emit === undefined) return { rule, ask: undefined };
  return {
    rule,
    ask: (names) => {
      const filter = emit(names);
      return filter === undefined ? unfiltered : { verdict: rule.verdict, filter };
    },
  };
}

function joined(join: typeof both, left: AskLabels, right: AskLabels): AskLabels {
  return (names) => join(left(names), right(names));
}
