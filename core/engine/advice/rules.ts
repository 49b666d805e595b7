import type { Expr } from '../../logql/ast.js';
import type { AdviceContext, AdviceRule, FoundAdvice } from './advice.js';
import { fineStep, recordingRule, unevenStep } from './asked-times.js';
import { levelFromLine, namedFields } from './counted-labels.js';
import { filterBeforeFormat } from './filter-before-format.js';
import { nestedAggregation } from './nested-aggregation.js';
import { planHints, pushdownOff } from './plan-hints.js';
import { unreadStage } from './unread-stage.js';

/** All rules, in the order of their advice. */
export const adviceRules: readonly AdviceRule[] = [
  pushdownOff,
  nestedAggregation,
  unreadStage,
  filterBeforeFormat,
  namedFields,
  levelFromLine,
  ...planHints,
  fineStep,
  unevenStep,
  recordingRule,
];

/** Advice on a query, with the rule that gives it. */
export interface QueryAdvice extends FoundAdvice {
  readonly rule: AdviceRule;
}

/** Ways to make a query cheaper, limited to those that its plan shows to save something. */
export function adviceOn(expr: Expr, context: AdviceContext): readonly QueryAdvice[] {
  const found: QueryAdvice[] = [];
  for (const rule of adviceRules) {
    const advice = rule.find(expr, context);
    if (advice === undefined) continue;
    // Without pushdown nothing else matters.
    if (rule === pushdownOff) return [{ rule, ...advice }];
    found.push({ rule, ...advice });
  }
  return found;
}
