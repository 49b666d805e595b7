import type { Expr } from '../../logql/ast.js';
import type { QueryExplanation } from '../plan/explain/explain.js';

/** The facts about a query that advice depends on. */
export interface AdviceContext {
  readonly explanation: QueryExplanation;
  /** Explains another query as this one is explained. */
  readonly explain: (expr: Expr) => QueryExplanation;
  /** The times at which the query is asked, if they are known. */
  readonly times?: AskedTimes;
}

export interface AskedTimes {
  readonly kind: 'range' | 'instant';
  readonly rangeMs: number;
  readonly stepMs: number;
}

/** A way to make a query cheaper. */
export interface FoundAdvice {
  readonly text: string;
  /** A text to write. */
  readonly example?: string;
  /** The whole query as it could be written. */
  readonly rewritten?: Expr;
}

/** A kind of advice. */
export interface AdviceRule {
  readonly id: string;
  /** A few words for a list of rules. */
  readonly title: string;
  /**
   * The answers of a rewritten query: `same` as those of the query wherever that has no error, or `other` ones, about which the text says
   * more. Undefined for a rule that rewrites nothing.
   */
  readonly answers?: 'same' | 'other';
  /** The advice for a query; undefined if the rule does not apply, or would save nothing. */
  readonly find: (expr: Expr, context: AdviceContext) => FoundAdvice | undefined;
}
