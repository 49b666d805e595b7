import type { Expr } from '../../logql/ast.js';
import type { AdviceRule } from './advice.js';
import type { CostClass, ExplainedRead, QueryExplanation } from '../plan/explain/explain.js';
import { firstStrategy } from '../plan/explain/strategies.js';

const costs: readonly CostClass[] = ['none', 'page', 'statistics', 'scan', 'rows'];
/** Strategies from those that transfer least to those that transfer most. */
const transfers = ['statistics', 'value-groups', 'short-lines', 'rows', 'whole-rows'];
const verdicts = { exact: 0, superset: 1, none: 2 } as const;

/** True if a query costs less than another one, as far as their plans show. */
function isCheaper(rewritten: QueryExplanation, written: QueryExplanation): boolean {
  return isLess(weightsOf(rewritten), weightsOf(written));
}

/** True if the backend sends less for a query than for another one, which is worth other answers. */
function sendsLess(rewritten: QueryExplanation, written: QueryExplanation): boolean {
  return isLess(weightsOf(rewritten).slice(0, 2), weightsOf(written).slice(0, 2));
}

/** A rule that rewrites queries, where that saves something: much, if the answers change. */
export function rewritingRule(
  rule: Pick<AdviceRule, 'id' | 'title' | 'answers'>,
  text: string,
  rewrite: (expr: Expr) => Expr,
): AdviceRule {
  const saves = rule.answers === 'same' ? isCheaper : sendsLess;
  return {
    ...rule,
    find(expr, { explanation, explain }) {
      const rewritten = rewrite(expr);
      return rewritten === expr || !saves(explain(rewritten), explanation) ? undefined : { text, rewritten };
    },
  };
}

function isLess(after: readonly number[], before: readonly number[]): boolean {
  for (const [index, weight] of before.entries()) {
    const other = after[index] ?? 0;
    if (other !== weight) return other < weight;
  }
  return false;
}

/** Figures of a plan, those that matter most first. */
function weightsOf({ cost, reads }: QueryExplanation): readonly number[] {
  const parts = reads.flatMap((read) => read.parts);
  const undecided = parts.filter(({ verdict }) => verdict === 'none').length;
  return [
    costs.indexOf(cost),
    sumOf(reads.map(transferOf)),
    sumOf(reads.map(({ parts: own }) => verdicts[own.at(-1)?.verdict ?? 'exact'])),
    undecided,
    sumOf(reads.map(({ evaluatedHere }) => evaluatedHere.length)),
  ];
}

function transferOf({ strategies }: ExplainedRead): number {
  const name = firstStrategy(strategies)?.strategy;
  return name === undefined ? 0 : transfers.indexOf(name);
}

function sumOf(figures: readonly number[]): number {
  return figures.reduce((sum, figure) => sum + figure, 0);
}

/** True if the rows of a range aggregation are read one by one. */
export function readsRows({ strategies }: ExplainedRead): boolean {
  const name = firstStrategy(strategies)?.strategy;
  return name === 'short-lines' || name === 'rows' || name === 'whole-rows';
}
