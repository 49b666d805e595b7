import type { Selector } from '../../wire/api/query.js';
import type { Matcher, Stage } from '../../logql/ast.js';
import { requireNonEmptyMatcher } from '../../logql/index.js';
import type { LogsqlFilter } from '../../victoria/logsql/ast.js';
import { everything } from '../../victoria/logsql/build.js';
import type { Naming } from '../../victoria/names/naming.js';
import { doAll, type Steps } from '../../base/pace/steps.js';
import { joinStreams } from './label-fields.js';
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

/** The rows that matchers select, and why. */
export interface PlannedMatchers {
  readonly filter: LogsqlFilter;
  readonly decisions: readonly Decision[];
}

/** The rows of the streams that all matchers select. */
export function planMatchers(matchers: readonly Matcher[], naming: Naming): PlannedMatchers {
  return doAll(matcherSteps(matchers, naming));
}

/** The same bit by bit, for selectors that are long. */
export function* matcherSteps(matchers: readonly Matcher[], naming: Naming): Steps<PlannedMatchers> {
  const filters: LogsqlFilter[] = [];
  const decisions: Decision[] = [];
  for (const [index, matcher] of matchers.entries()) {
    if ((index + 1) % stepMatchers === 0) yield;
    const name = naming.selectorName(matcher.name);
    const { rule, emit } = firstRule(selectorRules, { name, matcher, naming });
    decisions.push({ rule, part: matcher });
    if (emit !== undefined) filters.push(emit());
  }
  return { filter: joinStreams(filters), decisions };
}

/** The rows of a bare selector: one that is given must select something, none selects everything. */
export function selectorFilter(selector: Selector | undefined, naming: Naming): LogsqlFilter {
  if (selector === undefined) return everything;
  requireNonEmptyMatcher(selector.matchers);
  return planMatchers(selector.matchers, naming).filter;
}
