import type { MatchOp, Matcher } from './ast.js';

/** A matcher that stands in no text, for trees that are made or changed by a program. */
export function makeMatcher(name: string, op: MatchOp, value: string): Matcher {
  return { kind: 'matcher', name, op, value, span: { start: 0, end: 0 } };
}
