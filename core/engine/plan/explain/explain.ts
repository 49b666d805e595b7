import { doAll } from '../../../base/pace/steps.js';
import { leavesOf } from '../../../logql/metric/index.js';
import type { Query } from '../../../wire/api/request.js';
import { printMatcher, printPlain, printStage } from '../../../logql/index.js';
import { shortConditions, type ShortCondition } from '../../../victoria/logsql/conditions.js';
import { printFilter } from '../../../victoria/logsql/print.js';
import type { LogsqlFilter } from '../../../victoria/logsql/ast.js';
import type { Naming } from '../../../victoria/names/naming.js';
import type { PlanSettings } from '../checked-request.js';
import { type KnownNames, namesAsWritten } from '../../../victoria/names/name-learner.js';
import { type OpenPlan, planLogs } from '../logs.js';
import { planMetric } from '../metric.js';
import { LabelFields } from '../columns.js';
import { readQuery } from '../plan.js';
import type { AppliedRule, RuleId } from '../rules/index.js';
import type { Verdict } from '../rules/rule.js';
import type { Decision, LeafPlan, LogsPlan } from '../types.js';
import { explainStrategies, type ExplainedStrategy, type KnownOfLeaf } from './strategies.js';
import type { Expr, Grouping, LogExpr, Stage } from '../../../logql/ast.js';
import { printGoDuration } from '../../../base/time/index.js';

/** The cost class of a query, by the data that the backend must send. */
export type CostClass = keyof typeof costTexts;

/** One part of the query and the decision about it. */
export interface ExplainedPart {
  readonly part: string;
  readonly rule: RuleId;
  readonly verdict: Verdict;
  readonly backend: string;
  readonly reason: string;
}

/** One log query within the query, as read from the backend. */
export interface ExplainedRead {
  readonly logql: string;
  readonly logsql: string;
  /** The conditions of `logsql`, one for each line of a listing. */
  readonly conditions: readonly ShortCondition[];
  readonly parts: readonly ExplainedPart[];
  /** Stages that the proxy evaluates on every row it receives. */
  readonly evaluatedHere: readonly string[];
  /** For a range aggregation: the strategies that may read it, in the order of attempts, then those that are excluded. */
  readonly strategies?: readonly ExplainedStrategy[];
}

export interface QueryExplanation {
  readonly query: string;
  readonly tree: string;
  readonly reads: readonly ExplainedRead[];
  readonly cost: CostClass;
  readonly costText: string;
  /** Shows whether the stored spellings of label names in filters are known. */
  readonly names: keyof typeof namesTexts;
}

export const namesTexts = {
  unneeded: 'no stored names are needed',
  learned: 'learned within the last minute',
  unknown:
    'not known here: a query first reads them from the backend; this plan shows label filters with the name as its only spelling, and line filters that keep rows without a line',
} as const;

/** The settings of the pipeline that decide how a query is planned. */
export interface ExplainContext extends PlanSettings {
  /** The stored names of the selected rows, if known. */
  readonly recall?: (filter: LogsqlFilter) => KnownNames | undefined;
  /** Facts about the rows of a range aggregation; none by default. */
  readonly knownOf?: (leaf: LeafPlan) => KnownOfLeaf;
}

export const costTexts = {
  none: 'no call to the backend',
  page: 'only the rows of the answer',
  scan: 'selected rows, newest or oldest first, until enough rows have passed the stages that run in the proxy',
  rows: 'all selected rows in the range, with the columns that the query uses',
  statistics: 'one number per group and interval; rows only if statistics are not enough',
} as const;

/**
 * Explains how a query is executed, without calling the backend.
 * @throws LogqlError with Loki's text for a query it rejects
 */
export function explainQuery(
  query: Query,
  naming: Naming,
  { recall = () => undefined, knownOf = () => ({}), ...settings }: ExplainContext = {},
): QueryExplanation {
  // Without splitting, since the parts of an instant query are all read alike.
  const asked = doAll(readQuery(query, naming, settings, { kind: 'instant', splitMs: 0 }));
  const shared = { query: query.text, tree: printTree(asked.expr) };
  const context = { naming, fields: new LabelFields(naming) };
  if (asked.kind === 'logs') {
    const open = doAll(planLogs(asked.expr, context, asked.pushdown));
    const { plan, names } = closed(open, recall);
    const cost = plan.residual.length === 0 ? 'page' : 'scan';
    return { ...shared, reads: [explainRead(asked.expr, plan, open.decisions)], ...costOf(cost), names };
  }
  const { plan, names } = closed(doAll(planMetric(asked, context)), recall);
  const leaves = leavesOf(plan.tree);
  const reads = leaves.map((planned) => {
    const { range, logs, decisions, rule } = planned;
    const read = explainRead(range.range.query, logs, decisions);
    const parts = [...read.parts, explained(printPlain(range), rule)];
    return { ...read, parts, strategies: explainStrategies(planned, knownOf(planned)) };
  });
  const isCounted = leaves.every(({ push }) => push !== undefined);
  const cost = leaves.length === 0 ? 'none' : isCounted ? 'statistics' : 'rows';
  return { ...shared, reads, ...costOf(cost), names };
}

/** The plan as it is executed. If it depends on unknown names, names are assumed to be stored as they are written. */
function closed<Closed>(
  { wanted, close }: OpenPlan<Closed>,
  recall: (filter: LogsqlFilter) => KnownNames | undefined,
): { readonly plan: Closed; readonly names: QueryExplanation['names'] } {
  if (wanted === undefined) return { plan: close(undefined), names: 'unneeded' };
  const names = recall(wanted);
  return { plan: close(names ?? namesAsWritten), names: names === undefined ? 'unknown' : 'learned' };
}

function costOf(cost: CostClass): Pick<QueryExplanation, 'cost' | 'costText'> {
  return { cost, costText: costTexts[cost] };
}

function explainRead(expr: LogExpr, plan: LogsPlan, decisions: readonly Decision[]): ExplainedRead {
  return {
    logql: printPlain(expr),
    logsql: printFilter(plan.filter),
    conditions: shortConditions(plan.filter),
    parts: decisions.map(({ rule, part }) =>
      explained(part.kind === 'matcher' ? `{${printMatcher(part)}}` : printStage(part), rule),
    ),
    evaluatedHere: plan.residual.map(printStage),
  };
}

function explained(part: string, { id, verdict, backend, reason }: AppliedRule): ExplainedPart {
  return { part, rule: id, verdict, backend, reason };
}

/** Prints a tree on one line, with a pair of parentheses per node, to show how the query was parsed. */
function printTree(expr: Expr): string {
  switch (expr.kind) {
    case 'log':
      return printLogTree(expr);
    case 'literal':
      return String(expr.value);
    case 'vector':
      return `(vector ${expr.value})`;
    case 'range-aggregation': {
      const { query, unwrap, intervalNanoseconds, offsetNanoseconds } = expr.range;
      return node(
        expr.op,
        expr.parameter === undefined ? '' : String(expr.parameter),
        printGrouping(expr.grouping),
        `[${printGoDuration(intervalNanoseconds)}]`,
        offsetNanoseconds === 0n ? '' : `offset ${printGoDuration(offsetNanoseconds)}`,
        printLogTree(query),
        unwrap === undefined ? '' : node('unwrap', unwrap.conversion ?? '', unwrap.name),
        ...(unwrap?.filters ?? []).map(printStageNode),
      );
    }
    case 'vector-aggregation':
      return node(
        expr.op,
        expr.parameter === undefined ? '' : String(expr.parameter),
        printGrouping(expr.grouping),
        printTree(expr.expr),
      );
    case 'binary': {
      const { matching } = expr;
      const on =
        matching === undefined ? '' : `${matching.on ? 'on' : 'ignoring'} (${matching.labels.join(', ')})`;
      return node(
        expr.op,
        expr.returnBool ? 'bool' : '',
        on,
        matching?.group === undefined ? '' : `group_${matching.group} (${matching.include.join(', ')})`,
        printTree(expr.left),
        printTree(expr.right),
      );
    }
    case 'label-replace': {
      const texts = [expr.destination, expr.replacement, expr.source, expr.regex].map((text) =>
        JSON.stringify(text),
      );
      return node('label_replace', ...texts, printTree(expr.expr));
    }
  }
}

function printLogTree({ selector, stages }: LogExpr): string {
  return node('log', node('selector', ...selector.matchers.map(printMatcher)), ...stages.map(printStageNode));
}

function printStageNode(stage: Stage): string {
  return node(stage.kind, printStage(stage).replace(/^\| /, ''));
}

function printGrouping(grouping: Grouping | undefined): string {
  if (grouping === undefined) return '';
  return `${grouping.without ? 'without' : 'by'} (${grouping.labels.join(', ')})`;
}

function node(name: string, ...parts: readonly string[]): string {
  return `(${[name, ...parts].filter((part) => part !== '').join(' ')})`;
}
