import type { Steps } from '../../base/pace/steps.js';
import type { Matcher, Stage } from '../../logql/ast.js';
import type { LogsqlFilter } from '../../victoria/logsql/ast.js';
import type { Naming } from '../../victoria/names/naming.js';
import { joinStreams, type LabelFields } from './label-fields.js';
import type { AppliedRule } from './rules/index.js';
import { firstRule } from './rules/rule.js';
import { selectorRules } from './rules/selector.js';

/** The rule that was applied to a part of the query. */
export interface Decision {
  readonly rule: AppliedRule;
  readonly part: Matcher | Stage;
}

/** Matchers that are planned in one step. */
const stepMatchers = 100;

/** The names that a plan is made with. */
export interface PlanContext {
  readonly naming: Naming;
  /** The stored stream fields that make labels. */
  readonly fields: LabelFields;
  /** True if streams of aggregated metrics and patterns match no rows. Loki shows them to Logs Drilldown alone. */
  readonly hidesInternal?: boolean;
}

/** The rows that matchers select, and why. */
export interface PlannedMatchers {
  readonly filter: LogsqlFilter;
  readonly decisions: readonly Decision[];
}

/** The rows of the streams that all matchers select. */
export function* planMatchers(matchers: readonly Matcher[], context: PlanContext): Steps<PlannedMatchers> {
  const { naming, fields } = context;
  const filters: LogsqlFilter[] = [];
  const decisions: Decision[] = [];
  for (const [index, matcher] of matchers.entries()) {
    if ((index + 1) % stepMatchers === 0) yield;
    const name = naming.selectorName(matcher.name);
    const { rule, emit } = firstRule(selectorRules, { name, matcher, naming, fields });
    decisions.push({ rule, part: matcher });
    if (emit !== undefined) filters.push(emit());
  }
  return { filter: joinStreams(filters), decisions };
}
