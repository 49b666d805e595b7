import { kindOfRule, type RuleText } from '../rule.js';
import type { LogsqlFilter } from '../../../../victoria/logsql/ast.js';
import { or } from '../../../../victoria/logsql/build.js';

/** What was decided about one test of a line filter. */
export interface DecidedTerm {
  readonly rule: RuleText;
  readonly filter: LogsqlFilter;
}

/** Defines a rule about the alternatives of a line filter as a whole. */
const alternativesRule = kindOfRule<readonly DecidedTerm[], LogsqlFilter>();

export const lineMixed = alternativesRule({
  id: 'lineMixed',
  construct: 'alternatives of several kinds',
  backend: 'the alternatives joined by or',
  verdict: 'exact',
  reason:
    'the backend joins what it is asked for each; where one of them is a superset or none, that one decides',
  example: '{namespace="shop"} |~ "timeout" or "took [0-9]+s"',
  match: (terms) => (terms.some(({ rule }) => rule !== terms[0]?.rule) ? terms : undefined),
  emit: anyOf,
});

/** Lines that one of the alternatives lets pass. */
export function anyOf(terms: readonly DecidedTerm[]): LogsqlFilter {
  return or(...terms.map(({ filter }) => filter));
}
