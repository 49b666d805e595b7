import type { LogsqlFilter } from '../../victoria/logsql/ast.js';
import { and, everything, or } from '../../victoria/logsql/build.js';
import type { Verdict } from './rules/rule.js';

/** What the backend is asked for a part of a query, and how far that answers it. */
export interface Answered {
  readonly verdict: Verdict;
  /** Everything where the verdict is `none`. */
  readonly filter: LogsqlFilter;
}

export const unanswered: Answered = { verdict: 'none', filter: everything };

const strengths = { none: 0, superset: 1, exact: 2 } as const;

/** The one of the verdicts that the whole is no better than; the first of several. */
export function weakest<One extends { readonly verdict: Verdict }>(all: readonly One[]): One {
  return all.reduce((least, one) => (strengths[one.verdict] < strengths[least.verdict] ? one : least));
}

/** Rows for which both hold: one that is not answered leaves a superset. */
export function both(a: Answered, b: Answered): Answered {
  if (a.verdict === 'none' && b.verdict === 'none') return unanswered;
  const isExact = a.verdict === 'exact' && b.verdict === 'exact';
  return { verdict: isExact ? 'exact' : 'superset', filter: and(a.filter, b.filter) };
}

/** Rows for which one of them holds: one that is not answered may hold for any. */
export function either(a: Answered, b: Answered): Answered {
  const { verdict } = weakest([a, b]);
  return verdict === 'none' ? unanswered : { verdict, filter: or(a.filter, b.filter) };
}
