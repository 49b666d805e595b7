import type { LineFilterStage, LogExpr, Stage } from '../../logql/ast.js';
import { descriptorOf } from '../../logql/stages/index.js';
import type { LogsqlFilter } from '../../victoria/logsql/ast.js';
import { and, everything, not, or } from '../../victoria/logsql/build.js';
import { aggregateLabels } from '../../victoria/names/stream-identity.js';
import type { Naming } from '../../victoria/names/naming.js';
import { doAll, type Steps } from '../../base/pace/steps.js';
import { decideLabelFilter } from './label-filters.js';
import { decideLineFilter } from './line-filters.js';
import { matcherSteps, type Decision } from './matchers.js';
import { letsMissingLinesPass, missingLineRows } from './missing-lines.js';
import { rebuiltLinesThatPass } from './rebuilt-lines.js';
import { RowScope } from './row-scope.js';
import type { AppliedRule } from './rules/index.js';
import { metricOff, queryTooLong, type Pushdown } from './rules/query.js';
import { stageRules } from './rules/stage.js';
import type { LabelQuestion, LogsPlan } from './types.js';
import { unanswered } from './verdicts.js';

export interface PlannedLogs {
  readonly plan: LogsPlan;
  /** What was decided about each part of the query, in its order; for explain. */
  readonly decisions: readonly Decision[];
}

/**
 * Plans a log query: what the backend filters, and what is left to evaluate here. What it is asked for label filters is left open
 * until the stored names are known (refinePlan).
 */
export function planLogs(expr: LogExpr, naming: Naming, pushdown: Pushdown = 'on'): PlannedLogs {
  return doAll(logsSteps(expr, naming, pushdown));
}

/** Stages that are planned in one step. */
const stepStages = 50;

/** The same bit by bit, for queries that are long. */
export function* logsSteps(expr: LogExpr, naming: Naming, pushdown: Pushdown): Steps<PlannedLogs> {
  const { matchers } = expr.selector;
  const selection = yield* matcherSteps(matchers, naming);
  const isInternal = matchers.some(({ name }) => aggregateLabels.includes(name));
  const leftHere = (rule: AppliedRule): PlannedLogs => ({
    plan: {
      kind: 'logs',
      ...{ filter: selection.filter, residual: expr.stages, recheck: [], labels: [], isInternal },
    },
    decisions: [...selection.decisions, ...expr.stages.map((part) => ({ rule, part }))],
  });
  if (metricOff.apply(pushdown) !== undefined) return leftHere(metricOff);
  const stages = new PlannedStages(naming);
  for (const [index, stage] of expr.stages.entries()) {
    if ((index + 1) % stepStages === 0) yield;
    stages.add(stage);
  }
  const filter = and(selection.filter, stages.lines());
  yield;
  if (stages.asksLines && queryTooLong.apply(filter) !== undefined) return leftHere(queryTooLong);
  const { residual, recheck, labels, decisions } = stages;
  return {
    plan: { kind: 'logs', filter, residual, recheck, labels, isInternal },
    decisions: [...selection.decisions, ...decisions],
  };
}

/** What becomes of the stages of a query, one after the other. */
class PlannedStages {
  readonly residual: Stage[] = [];
  readonly recheck: Stage[] = [];
  readonly labels: LabelQuestion[] = [];
  readonly decisions: Decision[] = [];
  readonly #scope: RowScope;
  readonly #filters: LogsqlFilter[] = [];
  readonly #asked: LineFilterStage[] = [];

  constructor(naming: Naming) {
    this.#scope = new RowScope(naming);
  }

  add(stage: Stage): void {
    this.decisions.push({ rule: this.#place(stage), part: stage });
    this.#scope.pass(stage);
  }

  get asksLines(): boolean {
    return this.#asked.length > 0;
  }

  /** What is asked of lines; rows without a stored line are let through where their placeholder would not pass. */
  lines(): LogsqlFilter {
    const lines = and(...this.#filters);
    const { naming } = this.#scope;
    const needsNoMore = !this.asksLines || letsMissingLinesPass(this.#asked, naming);
    return needsNoMore ? lines : or(lines, missingLineRows(naming));
  }

  #place(stage: Stage): AppliedRule {
    if (stage.kind === 'line-filter' && this.#scope.isLineStored) return this.#placeLineFilter(stage);
    this.residual.push(stage);
    if (stage.kind !== 'label-filter') return stageRules[descriptorOf(stage).whyHere];
    const { rule, ask } = decideLabelFilter(stage.filter, this.#scope, this.#scope.mayHaveFailed);
    if (ask !== undefined) this.labels.push({ stage, ask });
    return rule;
  }

  /** Rows without a stored line are let through, but for those whose fields show that their line does not pass. */
  #askRebuilt(stage: LineFilterStage): void {
    if (rebuiltLinesThatPass(stage, []).kind === 'all') return;
    const among = missingLineRows(this.#scope.naming);
    this.labels.push({
      ...{ stage, among },
      ask({ fields }) {
        const passing = fields === undefined ? everything : rebuiltLinesThatPass(stage, fields);
        // Where no row has a field of its own, none is without a line.
        if (passing.kind === 'all' || fields?.length === 0) return unanswered;
        return { verdict: 'superset', filter: or(not(among), passing) };
      },
    });
  }

  #placeLineFilter(stage: LineFilterStage): AppliedRule {
    const { rule, verdict, filter } = decideLineFilter(stage);
    if (verdict !== 'none') {
      this.#filters.push(filter);
      this.#asked.push(stage);
      this.#askRebuilt(stage);
    }
    if (verdict === 'exact') this.recheck.push(stage);
    else this.residual.push(stage);
    return rule;
  }
}
