import type { Matcher } from '../../../../logql/ast.js';
import type { LogsqlFilter, StreamMatcher } from '../../../../victoria/logsql/ast.js';
import type { Naming } from '../../../../victoria/names/naming.js';
import { kindOfRule } from '../rule.js';

/** A matcher of a stream selector, with the name that the label has here. */
export interface NamedMatcher {
  readonly name: string;
  readonly matcher: Matcher;
  readonly naming: Naming;
}

/** Rows that a matcher selects: matchers that stand in one `{...}` with those of others, or a filter. */
export type Selected = { readonly matchers: readonly StreamMatcher[] } | { readonly filter: LogsqlFilter };

/** Defines a rule about a matcher of a stream selector. No selector is evaluated here, so all of them have to be exact. */
export const selectorRule = kindOfRule<NamedMatcher, Selected, [], 'exact'>();
