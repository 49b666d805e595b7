import type { Steps } from '../../base/pace/steps.js';
import type { Matcher, Stage } from '../../logql/ast.js';
import type { LogsqlFilter } from '../../victoria/logsql/ast.js';
import type { Naming } from '../../victoria/names/naming.js';
import { joinStreams, type LabelFields } from './columns.js';
import type { AppliedRule } from './rules/index.js';
import { firstRule, selectorRules } from './rules/rule.js';

/** The rule that was applied to a part of the query. */
export interface Decision {
  readonly rule: AppliedRule;
  readonly part: Matcher | Stage;
}

/** Number of matchers that are planned per step. */
const stepMatchers = 100;

/** The names that a plan is based on. */
export interface PlanContext {
  readonly naming: Naming;
  /** The stored stream fields that become labels. */
  readonly fields: LabelFields;
  /** True if streams of aggregated metrics and patterns match no rows. Loki shows them only to Logs Drilldown. */
  readonly hidesInternal?: boolean;
}

/** The rows that matchers select, and the rules that were applied. */
export interface PlannedMatchers {
  readonly filter: LogsqlFilter;
  readonly decisions: readonly Decision[];
}

/** Plans the selection of the streams that match all matchers. */
export function* planMatchers(matchers: readonly Matcher[], context: PlanContext): Steps<PlannedMatchers> {
  const { naming, fields } = context;
  const filters: LogsqlFilter[] = [];
  const decisions: Decision[] = [];
  for (const [index, matcher] of matchers.entries()) {
    if ((index + 1) % stepMatchers === 0) yield;
    const name = naming.selectorName(matcher.name);
    const { rule, asked } = firstRule(selectorRules, { name, matcher, naming, fields });
    decisions.push({ rule, part: matcher });
    if (asked !== undefined) filters.push(asked);
  }
  return { filter: joinStreams(filters), decisions };
}
