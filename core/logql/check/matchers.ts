import { compileRegExp } from '../regexp/index.js';
import type { Matcher } from '../ast.js';

const text =
  'queries require at least one regexp or equality matcher that does not have an empty-compatible value. ' +
  'For instance, app=~".*" does not meet this requirement, but app=~".+" will';

/** Loki's error when all matchers accept a missing label; undefined otherwise. */
export function emptyMatcherFault(matchers: readonly Matcher[]): string | undefined {
  return matchers.every(matchesEmpty) ? text : undefined;
}

/** Whether the matcher accepts the empty value, which is what a missing label has. */
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
