import { Pacer } from '../../base/pace/pacer.js';
import { atPace, type Steps } from '../../base/pace/steps.js';
import type { TimeRange } from '../../base/time/range.js';
import type { Exchange } from '../../kernel/plugin/exchange.js';
import type { LogExpr, Matcher } from '../../logql/ast.js';
import { leavesOf, type Leaf } from '../../logql/metric/index.js';
import { printStage } from '../../logql/index.js';
import type { LogsqlFilter } from '../../victoria/logsql/ast.js';
import { or } from '../../victoria/logsql/build.js';
import type { NameLearner } from '../../victoria/names/name-learner.js';
import type { Naming } from '../../victoria/names/naming.js';
import { serviceNameLabel } from '../../victoria/names/service-name.js';
import type { ApiRequest } from '../../wire/api/request.js';
import type { CheckedRequest, CheckedGathered, CheckedStreams } from './checked-request.js';
import { planDeletion } from './deletion.js';
import { LabelFields } from './label-fields.js';
import { type LabelQuestion, type OpenPlan, planLogs } from './logs.js';
import { type PlanContext, planMatchers } from './matchers.js';
import { type OpenMetric, planMetric } from './metric.js';
import type { GatheredPlan, Plan } from './types.js';

type Planning = Exchange<'tenant' | 'plan' | 'upstream'>;

/** The plan of a request, and the stored stream fields of the labels it names. */
export interface PlannedRequest {
  readonly plan: Plan;
  readonly labelFields: LabelFields;
}

/**
 * Plans a request with the names that the backend has stored, which are requested only if they matter.
 * @throws ApiError for a deletion that the backend cannot make exactly
 */
export async function planRequest(
  exchange: Planning,
  naming: Naming,
  learner: NameLearner,
): Promise<PlannedRequest> {
  const { slots, request, caller, signal } = exchange;
  const { plan: asked, upstream, tenant } = slots;
  const range = rangeRead(request, asked);
  const fields = await labelFieldsOf(exchange, range, naming, learner);
  const context: PlanContext = { naming, fields, hidesInternal: !caller.isDrilldown };
  const open = await atPace(openPlan(asked, context), new Pacer(signal));
  const names =
    open.wanted === undefined || range === undefined
      ? undefined
      : await learner.learn({ tenantId: tenant.id, naming, filter: open.wanted, range, upstream });
  return { plan: open.close(names), labelFields: fields };
}

/** Plans a request, except for the names of label filters. */
export function* openPlan(asked: CheckedRequest, context: PlanContext): Steps<OpenPlan<Plan>> {
  switch (asked.kind) {
    case 'logs':
      return yield* planLogs(asked.expr, context, asked.pushdown);
    case 'metric':
      return yield* planMetric(asked, context);
    case 'gathered':
      return yield* planGathered(asked, context);
    case 'detected-fields': {
      const { wanted, close } = yield* planLogs(asked.expr, context, asked.pushdown);
      return { wanted, close: (names) => ({ kind: 'detected-fields', logs: close(names) }) };
    }
    case 'delete':
      return whole(yield* planDeletion(asked, context));
    case 'format':
    case 'tenant':
    case 'deletions':
    case 'stored-list':
      return whole(asked);
    default:
      return whole(yield* planStreams(asked, context));
  }
}

function whole(plan: Plan): OpenPlan<Plan> {
  return { wanted: undefined, close: () => plan };
}

function* planStreams({ selectors, ...asked }: CheckedStreams, context: PlanContext): Steps<Plan> {
  const filters: LogsqlFilter[] = [];
  for (const matchers of selectors) {
    filters.push((yield* planMatchers(matchers, context)).filter);
    yield;
  }
  return { ...asked, filter: or(...filters) };
}

/**
 * Plans several queries at once. The rows are requested once, so only label conditions that all queries share are pushed down; the rest is
 * evaluated for each query. Names that are stored differently may still make a difference: a query that needs other rows gets no answer
 * from the shared read.
 */
function* planGathered({ parts }: CheckedGathered, context: PlanContext): Steps<OpenPlan<GatheredPlan>> {
  const open: { readonly plan: OpenMetric; readonly signal: AbortSignal }[] = [];
  for (const { asked, signal } of parts) open.push({ signal, plan: yield* planMetric(asked, context) });
  const questions = open.map(({ plan: { tree } }) => leavesOf(tree).flatMap((leaf) => leaf.questions));
  const texts = questions.map((own) => new Set(own.map(textOf)));
  const isCommon = (question: LabelQuestion): boolean => texts.every((own) => own.has(textOf(question)));
  const wanted = open.flatMap(({ plan }) => plan.wanted ?? []);
  return {
    wanted: questions.some((own) => own.some(isCommon)) ? or(...wanted) : undefined,
    close: (names) => ({
      kind: 'gathered',
      parts: open.map(({ plan, signal }) => ({ signal, plan: plan.close(names, isCommon) })),
    }),
  };
}

function textOf({ stage }: LabelQuestion): string {
  return printStage(stage);
}

async function labelFieldsOf(
  { slots: { plan: asked, upstream } }: Planning,
  range: TimeRange | undefined,
  naming: Naming,
  { streamFields }: NameLearner,
): Promise<LabelFields> {
  const labels = labelsOf(asked, naming).filter((name) => LabelFields.needsListing(name, naming));
  if (labels.length === 0 || range === undefined) return new LabelFields(naming);
  const stored = await streamFields.learn(upstream, range, (fields) => {
    const known = new LabelFields(naming, fields);
    return labels.every((name) => known.hasField(name));
  });
  return new LabelFields(naming, stored);
}

/** The stream labels whose stored fields matter. */
function labelsOf(asked: CheckedRequest, naming: Naming): readonly string[] {
  const names = selectorsOf(asked)
    .flat()
    .map(({ name }) => naming.selectorName(name))
    .filter((name) => name === serviceNameLabel || naming.columnsOf(name).length === 0);
  // Values of the service name come from a listing of streams.
  return asked.kind === 'label-values' && asked.name !== serviceNameLabel ? [...names, asked.name] : names;
}

function selectorsOf(asked: CheckedRequest): readonly (readonly Matcher[])[] {
  if ('selectors' in asked) return asked.selectors;
  return queriesOf(asked).map(({ selector }) => selector.matchers);
}

function queriesOf(asked: CheckedRequest): readonly LogExpr[] {
  switch (asked.kind) {
    case 'logs':
    case 'detected-fields':
    case 'delete':
      return [asked.expr];
    default:
      return leavesAsked(asked).map(({ range }) => range.range.query);
  }
}

/** All range aggregations of a request. */
function leavesAsked(asked: CheckedRequest): readonly Leaf[] {
  switch (asked.kind) {
    case 'metric':
      return leavesOf(asked.tree);
    case 'gathered':
      return asked.parts.flatMap((part) => leavesOf(part.asked.tree));
    default:
      return [];
  }
}

/** The full time range in which a request reads rows; undefined for requests without a range. */
function rangeRead(request: ApiRequest, asked: CheckedRequest): TimeRange | undefined {
  const within =
    request.op === 'query'
      ? { startNs: request.timeNs, endNs: request.timeNs }
      : 'range' in request
        ? request.range
        : undefined;
  if (within === undefined) return undefined;
  let { startNs, endNs } = within;
  for (const { range } of leavesAsked(asked)) {
    const { intervalNanoseconds, offsetNanoseconds } = range.range;
    const first = within.startNs - offsetNanoseconds - intervalNanoseconds;
    const last = within.endNs - offsetNanoseconds;
    if (first < startNs) startNs = first;
    if (last > endNs) endNs = last;
  }
  return { startNs, endNs: endNs + 1n };
}
