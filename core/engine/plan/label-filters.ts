import type { LabelFilter } from '../../logql/ast.js';
import { isComparison, type LabelComparison } from '../../logql/pipeline/label-comparison.js';
import type { KnownNames } from './known-names.js';
import { comparesTexts } from './row-scope.js';
import type { AppliedRule } from './rules/index.js';
import { labelDeep } from './rules/label/deep.js';
import { labelRules } from './rules/label/index.js';
import type { LabelScope } from './rules/label/label-rule.js';
import { firstRule } from './rules/rule.js';
import { both, either, unanswered, type Answered } from './verdicts.js';

/** What was decided about a label filter. */
export interface DecidedLabels {
  readonly rule: AppliedRule;
  /** What the backend is asked once the stored names are known; undefined where it is asked for nothing, whatever they are. */
  readonly ask: AskLabels | undefined;
}

export type AskLabels = (names: KnownNames) => Answered;

/** Decides how a label filter goes to the backend (docs/protocol/logql-to-logsql.md#label-filters). */
export function decideLabelFilter(filter: LabelFilter, scope: LabelScope): DecidedLabels {
  if (labelDeep.apply(filter) !== undefined) return { rule: labelDeep, ask: undefined };
  return decideTree(filter, scope);
}

function decideTree(filter: LabelFilter, scope: LabelScope): DecidedLabels {
  if (isComparison(filter)) return decideComparison(filter, scope);
  const left = decideTree(filter.left, scope);
  const right = decideTree(filter.right, behind(filter.left, scope));
  if (filter.kind === 'or') {
    if (left.ask === undefined || right.ask === undefined) return left.ask === undefined ? left : right;
    return { rule: left.rule, ask: joined(either, left.ask, right.ask) };
  }
  if (left.ask === undefined || right.ask === undefined) return left.ask === undefined ? right : left;
  return { rule: left.rule, ask: joined(both, left.ask, right.ask) };
}

function decideComparison(comparison: LabelComparison, scope: LabelScope): DecidedLabels {
  const { rule, emit } = firstRule(labelRules, { comparison, scope });
  if (emit === undefined) return { rule, ask: undefined };
  return {
    rule,
    ask: (names) => {
      const filter = emit(names);
      return filter === undefined ? unanswered : { verdict: rule.verdict, filter };
    },
  };
}

/** What the right side finds: the left one may have marked the row with an error. */
function behind(first: LabelFilter, scope: LabelScope): LabelScope {
  if (comparesTexts(first)) return scope;
  const { keysAreInLine, missingLines } = scope;
  return {
    ...{ mayHaveFailed: true, keysAreInLine, missingLines },
    isStored: (name) => scope.isStored(name),
    isInLine: (name) => scope.isInLine(name),
  };
}

function joined(join: typeof both, left: AskLabels, right: AskLabels): AskLabels {
  return (names) => join(left(names), right(names));
}
