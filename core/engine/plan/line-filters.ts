import type { LineFilterStage } from '../../logql/ast.js';
import { lineMeaning } from '../../logql/pipeline/filter-meaning.js';
import type { LogsqlFilter } from '../../victoria/logsql/ast.js';
import { everything, not } from '../../victoria/logsql/build.js';
import type { AppliedRule } from './rules/index.js';
import { anyOf, lineMixed, lineRules } from './rules/line.js';
import { firstRule, type Verdict } from './rules/rule.js';
import { weakest } from './verdicts.js';

/** What the backend does for one line filter. */
export interface DecidedLines {
  readonly rule: AppliedRule;
  readonly verdict: Verdict;
  /** Everything where the verdict is `none`. */
  readonly filter: LogsqlFilter;
}

/** Decides how a line filter on the stored line goes to the backend (docs/protocol/logql-to-logsql.md#line-filters). */
export function decideLineFilter(stage: LineFilterStage): DecidedLines {
  const { tests, isNegated } = lineMeaning(stage);
  const terms = tests.map((test) => {
    const { rule, emit } = firstRule(lineRules, { test, isNegated });
    return { rule, filter: emit?.() ?? everything };
  });
  const rules = terms.map(({ rule }) => rule);
  const isMixed = lineMixed.apply(terms) !== undefined;
  const rule = weakest<AppliedRule>(isMixed ? [lineMixed, ...rules] : rules);
  const { verdict } = rule;
  // The negation of a superset would lose lines.
  if (verdict === 'none' || (isNegated && verdict !== 'exact'))
    return { rule, verdict: 'none', filter: everything };
  const filter = anyOf(terms);
  return { rule, verdict, filter: isNegated ? not(filter) : filter };
}
