import type { Query } from '../../wire/api/request.js';
import { apiError } from '../../base/errors/table.js';
import type { Steps } from '../../base/pace/steps.js';
import type { LogExpr, Matcher } from '../../logql/ast.js';
import { LogqlError } from '../../logql/error.js';
import { checkStages, withFilters } from '../../logql/index.js';
import { and, not } from '../../victoria/logsql/build.js';
import type { CheckedDeletion, PlanSettings } from './checked-request.js';
import { planLogs } from './logs.js';
import { matchesText } from './backend-pattern.js';
import { missingLineRows } from './missing-lines.js';
import type { DeletePlan, PlanContext } from './types.js';

/**
 * Parses the query of a deletion.
 * @throws ApiError for a query that names no streams
 */
export function parseDeletion(query: Query, { filters = 'loki' }: PlanSettings = {}): CheckedDeletion {
  const expr = withFilters(readLogQuery(query), filters);
  const { matchers } = expr.selector;
  if (!matchers.some(isSpecific)) throw apiError('deleteWildcard', { example: '{app="nginx"}' });
  return { kind: 'delete', expr };
}

/**
 * Plans a deletion of exactly the rows that the query returns.
 * @throws ApiError for a query whose rows the backend cannot select exactly
 */
export function* planDeletion({ expr }: CheckedDeletion, context: PlanContext): Steps<DeletePlan> {
  const { selection, close } = yield* planLogs(expr, context, 'on');
  const plan = close(undefined);
  if (plan.residual.length > 0) {
    throw untranslatable(
      'a deletion supports only stream selectors and line filters that the backend evaluates',
    );
  }
  if (plan.recheck.length === 0) return { kind: 'delete', filter: plan.filter, uncertain: undefined };
  // The line of a row without a stored one is built by the proxy, so no filter of the backend sees it.
  const withoutLine = missingLineRows(context.naming);
  return {
    kind: 'delete',
    filter: and(plan.filter, not(withoutLine)),
    uncertain: and(selection, withoutLine),
  };
}

function readLogQuery(query: Query): LogExpr {
  try {
    const { ast } = query;
    checkStages(ast);
    if (ast.kind === 'log') return ast;
  } catch (error) {
    if (!(error instanceof LogqlError)) throw error;
    throw untranslatable(error.message);
  }
  throw untranslatable('only log selector is supported');
}

/** Values without anything in common: a pattern that matches all of them is assumed to match any value. */
const anyValues = ['a', '0', '-', 'Zz zZ', '\u00e9\n\u{1f600}', 'x'.repeat(100)];

/** True for a matcher that names values, instead of excluding some or accepting any. */
function isSpecific(matcher: Matcher): boolean {
  switch (matcher.op) {
    case '=':
      return matcher.value !== '';
    case '=~':
      return !anyValues.every((value) => matchesText(matcher, value));
    case '!=':
    case '!~':
      return false;
  }
}

function untranslatable(cause: string): Error {
  return apiError('deleteUntranslatable', { cause });
}
