import type { MatchOp, Matcher } from './ast.js';

/** A matcher without a position in a text, for trees made or changed by code. */
export function makeMatcher(name: string, op: MatchOp, value: string): Matcher {
  return { kind: 'matcher', name, op, value, span: { start: 0, end: 0 } };
}
