import type { LineFilterStage, LogExpr, Stage } from '../../logql/ast.js';
import type { LogsqlFilter } from '../../victoria/logsql/ast.js';
import { and, or } from '../../victoria/logsql/build.js';
import { printFilter } from '../../victoria/logsql/print.js';
import type { Naming } from '../../victoria/names/naming.js';
import { doAll, type Steps } from '../../base/pace/steps.js';
import { pushLabelFilter } from './label-filters.js';
import { pushLineFilter } from './line-filters.js';
import { matcherSteps, type Decision } from './matchers.js';
import { letsMissingLinesPass, missingLineRows } from './missing-lines.js';
import { NameScope } from './name-scope.js';
import type { RuleId } from './rules/table.js';
import type { LogsPlan } from './types.js';

export interface PlannedLogs {
  readonly plan: LogsPlan;
  /** What was decided about each part of the query, in its order; for explain. */
  readonly decisions: readonly Decision[];
}

/** Bytes of a filter's text. */
// The backend's limit is 16384 bytes; the rest is left to what stands around the filter.
export const maxFilterBytes = 15_000;

/**
 * Plans a log query: what the backend filters, and what is left to evaluate here. Label filters are left here; refinePlan adds what
 * the backend can do for them, once the stored names are known.
 */
export function planLogs(expr: LogExpr, naming: Naming): PlannedLogs {
  return doAll(logsSteps(expr, naming));
}

/** Stages that are planned in one step. */
const stepStages = 50;

/** The same bit by bit, for queries that are long. */
export function* logsSteps(expr: LogExpr, naming: Naming): Steps<PlannedLogs> {
  const selection = yield* matcherSteps(expr.selector.matchers, naming);
  const pushed: LogsqlFilter[] = [];
  const pushedStages: LineFilterStage[] = [];
  const recheck: Stage[] = [];
  const residual: Stage[] = [];
  const decisions: Decision[] = [];
  const scope = new NameScope();
  let isLineStored = true;
  for (const [index, stage] of expr.stages.entries()) {
    if ((index + 1) % stepStages === 0) yield;
    if (stage.kind !== 'line-filter' || !isLineStored) {
      residual.push(stage);
      decisions.push({ rule: ruleOf(stage, scope), part: stage });
      scope.pass(stage);
      if (changesLine(stage)) isLineStored = false;
      continue;
    }
    const { rule, verdict, filter } = pushLineFilter(stage);
    decisions.push({ rule, part: stage });
    if (verdict !== 'none') {
      pushed.push(filter);
      pushedStages.push(stage);
    }
    if (verdict === 'exact') recheck.push(stage);
    else residual.push(stage);
  }
  const lines = and(...pushed);
  const exempt =
    pushed.length === 0 || letsMissingLinesPass(pushedStages, naming)
      ? lines
      : or(lines, missingLineRows(naming));
  const filter = and(selection.filter, exempt);
  yield;
  if (pushed.length > 0 && isTooLong(filter)) {
    const plan: LogsPlan = { kind: 'logs', filter: selection.filter, residual: expr.stages, recheck: [] };
    return {
      plan,
      decisions: [
        ...selection.decisions,
        ...expr.stages.map((part) => ({ rule: 'queryTooLong' as const, part })),
      ],
    };
  }
  return {
    plan: { kind: 'logs', filter, residual, recheck, asksLabels: true },
    decisions: [...selection.decisions, ...decisions],
  };
}

/** Whether a filter has too long a text; each of its parts has at least three bytes with what is between them. */
function isTooLong(filter: LogsqlFilter): boolean {
  if (filter.kind === 'and' && filter.parts.length * 3 > maxFilterBytes) return true;
  return Buffer.byteLength(printFilter(filter)) > maxFilterBytes;
}

function changesLine(stage: Stage): boolean {
  return stage.kind === 'line-format' || stage.kind === 'decolorize' || stage.kind === 'unpack';
}

function ruleOf(stage: Stage, scope: NameScope): RuleId {
  switch (stage.kind) {
    case 'line-filter':
      return 'lineAfterChange';
    case 'label-filter':
      return pushLabelFilter(stage.filter, scope).rule;
    case 'line-format':
    case 'decolorize':
    case 'unpack':
      return 'lineRewrite';
    case 'json':
    case 'logfmt':
    case 'regexp':
    case 'pattern':
      return 'parser';
    case 'label-format':
    case 'drop':
    case 'keep':
      return 'labelRewrite';
  }
}
