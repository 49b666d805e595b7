import { doAll, type Steps } from '../../base/pace/steps.js';
import type { TimeRange } from '../../base/time/range.js';
import type { Exchange } from '../../kernel/plugin/exchange.js';
import { leavesOf, mapLeaves } from '../../logql/metric/index.js';
import type { LogsqlFilter } from '../../victoria/logsql/ast.js';
import { and, everything, nothing, or } from '../../victoria/logsql/build.js';
import { selectionOf } from '../../victoria/logsql/selection.js';
import type { NameLearner } from '../../victoria/names/name-learner.js';
import type { Naming } from '../../victoria/names/naming.js';
import { serviceNameLabel } from '../../victoria/names/service-name.js';
import type { ApiRequest } from '../../wire/api/request.js';
import type { KnownNames } from './known-names.js';
import { LabelFields, labelsIn } from './label-fields.js';
import { queryTooLong } from './rules/query.js';
import type { LabelQuestion, LeafPlan, LogsPlan, MetricPlan, Plan } from './types.js';

/** The labels of a plan whose stored stream fields have to be listed before it is executed. */
function labelsToLearn(plan: Plan): readonly string[] {
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
function withoutInternal(plan: Plan): Plan {
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

type Refinable = Exchange<'tenant' | 'plan' | 'upstream'>;

/** A plan with stored names in place of those of clients. */
interface RefinedPlan {
  readonly plan: Plan;
  /** The stored stream fields of labels. */
  readonly labelFields: LabelFields;
}

/** The plan of an exchange with the names that the backend has stored. They are only requested when they matter. */
export async function refinedPlan(
  exchange: Refinable,
  naming: Naming,
  learner: NameLearner,
): Promise<RefinedPlan> {
  const { slots, request, caller } = exchange;
  const { upstream, tenant } = slots;
  const range = rangeRead(request, slots.plan);
  const labelFields = await labelFieldsOf(exchange, range, naming, learner);
  const resolved = resolveLabels(slots.plan, labelFields);
  const plan = caller.isDrilldown ? resolved : withoutInternal(resolved);
  const filter = rowsToLearnFrom(plan);
  if (filter === undefined || range === undefined) return { plan, labelFields };
  const names = await learner.learn({ tenantId: tenant.id, naming, filter, range, upstream });
  return { plan: names === undefined ? plan : refinePlan(plan, names), labelFields };
}

async function labelFieldsOf(
  { slots: { plan, upstream } }: Refinable,
  range: TimeRange | undefined,
  naming: Naming,
  { streamFields }: NameLearner,
): Promise<LabelFields> {
  const labels = labelsToLearn(plan).filter((name) => LabelFields.needsListing(name, naming));
  if (labels.length === 0 || range === undefined) return new LabelFields(naming);
  const stored = await streamFields.learn(upstream, range, (fields) => {
    const known = new LabelFields(naming, fields);
    return labels.every((name) => known.hasField(name));
  });
  return new LabelFields(naming, stored);
}

/** The full time range in which a request reads rows; undefined for requests without a range. */
function rangeRead(request: ApiRequest, plan: Plan): TimeRange | undefined {
  const asked =
    request.op === 'query'
      ? { startNs: request.timeNs, endNs: request.timeNs }
      : 'range' in request
        ? request.range
        : undefined;
  if (asked === undefined) return undefined;
  let { startNs, endNs } = asked;
  for (const { range } of leavesOfPlan(plan)) {
    const { intervalNanoseconds, offsetNanoseconds } = range.range;
    const first = asked.startNs - offsetNanoseconds - intervalNanoseconds;
    const last = asked.endNs - offsetNanoseconds;
    if (first < startNs) startNs = first;
    if (last > endNs) endNs = last;
  }
  return { startNs, endNs: endNs + 1n };
}
