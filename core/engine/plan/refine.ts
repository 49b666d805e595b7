import { doAll, type Steps } from '../../base/pace/steps.js';
import { leavesOf, mapLeaves } from '../../logql/metric/index.js';
import type { LogsqlFilter } from '../../victoria/logsql/ast.js';
import { and, everything, nothing, or } from '../../victoria/logsql/build.js';
import { selectionOf } from '../../victoria/logsql/selection.js';
import { serviceNameLabel } from '../../victoria/names/service-name.js';
import type { KnownNames } from './known-names.js';
import { labelsIn, type LabelFields } from './label-fields.js';
import { queryTooLong } from './rules/query.js';
import type { LabelQuestion, LeafPlan, LogsPlan, MetricPlan, Plan } from './types.js';

/** The labels of a plan whose stored stream fields have to be listed before it is executed. */
export function labelsToLearn(plan: Plan): readonly string[] {
  const names = filtersOf(plan).flatMap((filter) => labelsIn(filter).map(({ name }) => name));
  // Values of the service come from a listing of streams.
  return plan.kind === 'label-values' && plan.name !== serviceNameLabel ? [...names, plan.name] : names;
}

/** A plan in which labels are made of the stream fields that are known. */
export function resolveLabels(plan: Plan, fields: LabelFields): Plan {
  const resolved = (filter: LogsqlFilter): LogsqlFilter => fields.resolve(filter);
  return mapReads(plan, { filter: resolved, logs: (logs) => ({ ...logs, filter: resolved(logs.filter) }) });
}

/** A plan that reads nothing of the streams that Loki shows to Logs Drilldown alone. */
export function withoutInternal(plan: Plan): Plan {
  const hidden = (logs: LogsPlan): LogsPlan =>
    logs.isInternal === true ? { ...logs, filter: nothing } : logs;
  if (!logsOf(plan).some(({ isInternal }) => isInternal === true)) return plan;
  return mapReads(plan, { filter: (filter) => filter, logs: hidden });
}

/** The rows from which the stored names of label filters have to be learned; undefined for a plan without such filters. */
export function rowsToLearnFrom(plan: Plan): LogsqlFilter | undefined {
  const filtered = logsOf(plan).filter((logs) => logs.labels.length > 0);
  // Names are learned from whole streams, not by reading lines.
  return filtered.length === 0
    ? undefined
    : or(...filtered.map(({ filter, labels }) => and(selectionOf(filter), amongWhich(labels))));
}

function amongWhich(labels: readonly LabelQuestion[]): LogsqlFilter {
  return or(...labels.map(({ among }) => among ?? everything));
}

/** A plan in which the backend is asked for label filters, by their stored names. */
export function refinePlan(plan: Plan, names: KnownNames): Plan {
  return mapReads(plan, { filter: (filter) => filter, logs: (logs) => refineLogs(logs, names) });
}

/** The same for the rows of a log query. */
export function refineLogs(plan: LogsPlan, names: KnownNames): LogsPlan {
  const closed = { ...plan, labels: [] };
  const answers = plan.labels.map(({ stage, ask }) => ({ stage, ...ask(names) }));
  const conditions = and(...answers.map(({ filter }) => filter));
  if (conditions.kind === 'all') return closed;
  // Fields that came later than the names were learned may have other names: those rows are looked at here.
  const { unknownFromNs } = names;
  const exempt: LogsqlFilter =
    unknownFromNs === undefined ? conditions : or(conditions, { kind: 'time', min: unknownFromNs });
  const filter = and(closed.filter, exempt);
  if (queryTooLong.apply(filter) !== undefined) return closed;
  if (unknownFromNs !== undefined) return { ...closed, filter };
  const done = new Set(answers.filter(({ verdict }) => verdict === 'exact').map(({ stage }) => stage));
  return { ...closed, filter, residual: plan.residual.filter((stage) => !done.has(stage)) };
}

interface Changes {
  readonly logs: (logs: LogsPlan) => LogsPlan;
  /** Changes filters that stand outside of reads of logs. */
  readonly filter: (filter: LogsqlFilter) => LogsqlFilter;
}

/** A plan with all its filters changed. */
function mapReads(plan: Plan, { logs, filter }: Changes): Plan {
  const changedMetric = <Metric extends MetricPlan>(metric: Metric): Metric => ({
    ...metric,
    tree: doAll(
      mapLeaves(metric.tree, function* changed(leaf): Steps<LeafPlan> {
        yield;
        return { ...leaf, logs: logs(leaf.logs), selection: filter(leaf.selection) };
      }),
    ),
  });
  switch (plan.kind) {
    case 'logs':
      return logs(plan);
    case 'detected-fields':
      return { ...plan, logs: logs(plan.logs) };
    case 'metric':
      return changedMetric(plan);
    case 'gathered':
      return { ...plan, parts: plan.parts.map((part) => ({ ...part, plan: changedMetric(part.plan) })) };
    case 'delete': {
      const { uncertain } = plan;
      const changed = uncertain === undefined ? undefined : filter(uncertain);
      return { ...plan, filter: filter(plan.filter), uncertain: changed };
    }
    default:
      return 'filter' in plan ? { ...plan, filter: filter(plan.filter) } : plan;
  }
}

/** The filters of all reads of a plan. */
function filtersOf(plan: Plan): readonly LogsqlFilter[] {
  const ofLogs = logsOf(plan).map(({ filter }) => filter);
  return plan.kind !== 'logs' && 'filter' in plan ? [...ofLogs, plan.filter] : ofLogs;
}

function logsOf(plan: Plan): readonly LogsPlan[] {
  switch (plan.kind) {
    case 'logs':
      return [plan];
    case 'detected-fields':
      return [plan.logs];
    default:
      return leavesOfPlan(plan).map(({ logs }) => logs);
  }
}

/** Every range aggregation of a plan. */
export function leavesOfPlan(plan: Plan): readonly LeafPlan[] {
  switch (plan.kind) {
    case 'metric':
      return leavesOf(plan.tree);
    case 'gathered':
      return plan.parts.flatMap((part) => leavesOf(part.plan.tree));
    default:
      return [];
  }
}
