import type { Query } from '../../api/query.js';
import { checkStages, printMatcher, printPlain, printStage, type LogExpr } from '../../logql/index.js';
import { printFilter } from '../../logsql/print.js';
import type { Naming } from '../../names/naming.js';
import { and } from '../../logsql/build.js';
import type { Decision } from '../matchers.js';
import { planLogExpr, planMetric, type Pushdown } from '../metric.js';
import { labelConditions } from '../refine.js';
import { pushdownRules, type RuleId } from '../rules/table.js';
import type { Verdict } from '../rules/types.js';
import type { LogsPlan } from '../types.js';
import { printTree } from './tree-text.js';

/** What a query costs, by what has to be moved from the backend. */
export type CostClass = keyof typeof costTexts;

/** One part of the query and what is done about it. */
export interface ExplainedPart {
  readonly part: string;
  readonly rule: RuleId;
  readonly verdict: Verdict;
  readonly backend: string;
  readonly reason: string;
}

/** One log query in the query, as it is read from the backend. */
export interface ExplainedRead {
  readonly logql: string;
  readonly logsql: string;
  readonly parts: readonly ExplainedPart[];
  /** Stages that run here on every row that comes. */
  readonly evaluatedHere: readonly string[];
}

export interface Explanation {
  readonly query: string;
  readonly tree: string;
  readonly reads: readonly ExplainedRead[];
  readonly cost: CostClass;
  readonly costText: string;
}

export const costTexts = {
  none: 'nothing is asked of the backend',
  page: 'as many rows as the answer has',
  scan: 'rows of the selection, newest or oldest first, until enough of them have passed the stages that run here',
  rows: 'all rows of the selection in the range, with the columns that are looked at',
  statistics: 'one number per group and interval; rows only where statistics cannot tell',
} as const;

/**
 * Says what becomes of a query. Stored names are not asked for: label filters are shown with the name as its only spelling.
 * @throws LogqlError with the reference's text for a query it refuses
 */
export function explainQuery(query: Query, naming: Naming, pushdown: Pushdown = 'on'): Explanation {
  const { ast, text } = query;
  checkStages(ast);
  const shared = { query: text, tree: printTree(ast) };
  if (ast.kind === 'log') {
    const { plan, decisions } = planLogExpr(ast, naming, pushdown);
    const cost = plan.residual.length === 0 ? 'page' : 'scan';
    return { ...shared, reads: [explainRead(ast, plan, decisions)], ...costOf(cost) };
  }
  const leaves = [...planMetric(ast, naming, pushdown).leaves.values()];
  const reads = leaves.map(({ leaf, logs, decisions, rule }) => {
    const read = explainRead(leaf.range.range.query, logs, decisions);
    return { ...read, parts: [...read.parts, explained(printPlain(leaf.range), rule)] };
  });
  const isCounted = leaves.every(({ push }) => push !== undefined);
  return { ...shared, reads, ...costOf(leaves.length === 0 ? 'none' : isCounted ? 'statistics' : 'rows') };
}

function costOf(cost: CostClass): Pick<Explanation, 'cost' | 'costText'> {
  return { cost, costText: costTexts[cost] };
}

function explainRead(expr: LogExpr, plan: LogsPlan, decisions: readonly Decision[]): ExplainedRead {
  return {
    logql: printPlain(expr),
    logsql: printFilter(and(plan.filter, labelConditions(plan))),
    parts: decisions.map(({ rule, part }) =>
      explained(part.kind === 'matcher' ? `{${printMatcher(part)}}` : printStage(part), rule),
    ),
    evaluatedHere: plan.residual.map(printStage),
  };
}

function explained(part: string, rule: RuleId): ExplainedPart {
  const { verdict, backend, reason } = pushdownRules[rule];
  return { part, rule, verdict, backend, reason };
}
