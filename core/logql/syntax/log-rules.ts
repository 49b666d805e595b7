import type { LabelFilter, LogExpr, MatchOp, Matcher, Selector, Stage } from '../ast.js';
import { checkedMatcher } from './invalid.js';
import { grammar, operator, token, append } from './tokens.js';

const { identifier, string, openBrace, closeBrace, comma, open, close, pipe } = token;

export const matcher = grammar.nonterminal<Matcher>('matcher');
export const selector = grammar.nonterminal<Selector>('selector');
export const pipeline = grammar.nonterminal<Stage[]>('pipeline');
export const stages = grammar.nonterminal<readonly Stage[]>('stages');
export const stage = grammar.nonterminal<Stage>('stage');
export const labelFilter = grammar.nonterminal<LabelFilter>('label filter');
export const logQuery = grammar.nonterminal<LogExpr>('log query');
const matchers = grammar.nonterminal<Matcher[]>('matchers');

const matchTokens = [token.equal, operator('!='), token.matches, token.matchesNot];
const matchOps: readonly MatchOp[] = ['=', '!=', '=~', '!~'];

/** Rules for selectors and for log queries as a whole. */
export function addLogRules(): void {
  for (const [index, op] of matchOps.entries()) {
    const kind = matchTokens[index];
    if (kind === undefined) continue;
    grammar.rule(matcher)([identifier, kind, string], ([name, , value], span) =>
      checkedMatcher(name, op, value, span),
    );
  }
  grammar.rule(matchers)([matcher], ([first]) => [first]);
  grammar.rule(matchers)([matchers, comma, matcher], ([list, , next]) => append(list, next));

  const empty = (span: Selector['span']): Selector => ({ kind: 'selector', matchers: [], span });
  grammar.rule(selector)([openBrace, matchers, closeBrace], ([, list], span) => ({
    kind: 'selector',
    matchers: list,
    span,
  }));
  grammar.rule(selector)([openBrace, closeBrace], (_, span) => empty(span));
  // Parsing continues after an error behind a matcher: an invalid regexp further right is reported instead.
  grammar.rule(selector)([openBrace, matchers, grammar.error], (_, span) => empty(span));

  grammar.rule(stages)([pipe, stage], ([, made], span) => [{ ...made, span }]);
  grammar.rule(pipeline)([stages], ([made]) => [...made]);
  grammar.rule(pipeline)([pipeline, stages], ([list, made]) => append(list, ...made));

  grammar.rule(logQuery)([selector], ([made], span) => ({ kind: 'log', selector: made, stages: [], span }));
  grammar.rule(logQuery)([selector, pipeline], ([made, list], span) => ({
    kind: 'log',
    selector: made,
    stages: list,
    span,
  }));
  grammar.rule(logQuery)([open, logQuery, close], ([, inner]) => inner);
}
