import { compileRegExp } from '../regexp/index.js';
import type { Matcher } from '../ast.js';

const text =
  'queries require at least one regexp or equality matcher that does not have an empty-compatible value. ' +
  'For instance, app=~".*" does not meet this requirement, but app=~".+" will';

/** Loki's complaint about matchers that all hold for a label that is not there, or nothing when one does not. */
export function emptyMatcherFault(matchers: readonly Matcher[]): string | undefined {
  return matchers.every(matchesEmpty) ? text : undefined;
}

/** Whether a matcher holds for the empty value, which is what a missing label has. */
export function matchesEmpty({ op, value }: Matcher): boolean {
  switch (op) {
    case '=':
      return value === '';
    case '!=':
      return value !== '';
    case '=~':
      return compileRegExp(value, { anchored: true, dotAll: true }).test('');
    case '!~':
      return !compileRegExp(value, { anchored: true, dotAll: true }).test('');
  }
}
