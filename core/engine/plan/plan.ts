import { apiError } from '../../base/errors/table.js';
import { rangeOfBoth } from '../../base/order.js';
import { atPace, Pacer, type Steps } from '../../base/pace/steps.js';
import type { TimeRange } from '../../base/time/range.js';
import type { Exchange } from '../../kernel/plugin/exchange.js';
import type { Expr, Matcher } from '../../logql/ast.js';
import {
  checkSelectors,
  checkStages,
  checkSteps,
  logQueriesOf,
  makeMatcher,
  mapLogQueries,
  printStage,
  requireNonEmptyMatcher,
  withFilters,
} from '../../logql/index.js';
import {
  defaultMetricLimits,
  gridColumns,
  gridFor,
  type Leaf,
  leavesOf,
  type MetricSettings,
  planLeaves,
  RangeWindows,
} from '../../logql/metric/index.js';
import { descriptorOf } from '../../logql/stages/index.js';
import { labelFilter } from '../../logql/stages/label-filter.js';
import type { LogsqlFilter } from '../../victoria/logsql/ast.js';
import { or } from '../../victoria/logsql/build.js';
import type { NameLearner } from '../../victoria/names/name-learner.js';
import type { Naming } from '../../victoria/names/naming.js';
import { serviceNameLabel } from '../../victoria/names/service-name.js';
import type { ApiRequest, DiscoveryRequest, Query, Selector } from '../../wire/api/request.js';
import type {
  CheckedFields,
  CheckedGathered,
  CheckedLogs,
  CheckedMetric,
  CheckedRequest,
  CheckedStreams,
  PlanSettings,
} from './checked-request.js';
import { parseDeletion, planDeletion } from './deletion.js';
import { LabelFields } from './columns.js';
import { type LabelQuestion, type OpenPlan, planLogs, planMatchers } from './logs.js';
import { type OpenMetric, planMetric } from './metric.js';
import type { GatheredPlan, Plan, PlanContext } from './types.js';

type Planning = Exchange<'tenant' | 'plan' | 'upstream'>;

/** The plan of a request, and the stored stream fields of the labels it names. */
interface PlannedRequest {
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
  const texts = questions.map((own) => new Set(own.map(({ stage }) => printStage(stage))));
  const isCommon = ({ stage }: LabelQuestion): boolean => texts.every((own) => own.has(printStage(stage)));
  const wanted = open.flatMap(({ plan }) => plan.wanted ?? []);
  return {
    wanted: questions.some((own) => own.some(isCommon)) ? or(...wanted) : undefined,
    close: (names) => ({
      kind: 'gathered',
      parts: open.map(({ plan, signal }) => ({ signal, plan: plan.close(names, isCommon) })),
    }),
  };
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
  switch (asked.kind) {
    case 'logs':
    case 'detected-fields':
    case 'delete':
      return [asked.expr.selector.matchers];
    default:
      return leavesAsked(asked).map(({ range }) => range.range.query.selector.matchers);
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
  const leaves = leavesAsked(asked);
  if (leaves.length > 0 && (request.op === 'query' || request.op === 'query_range')) {
    const columns = gridColumns(gridFor(request));
    return leaves.map(({ range }) => new RangeWindows(columns, range.range).range).reduce(rangeOfBoth);
  }
  return 'range' in request ? { ...request.range, endNs: request.range.endNs + 1n } : undefined;
}

const instantLogText =
  'log queries are not supported as an instant query type, please change your query to a range query type';

/**
 * Parses a request, with the checks that Loki makes.
 * @throws LogqlError with Loki's text for a query it rejects, ApiError for unsupported queries
 */
export function* readRequest(
  request: ApiRequest,
  naming: Naming,
  settings: PlanSettings = {},
): Steps<CheckedRequest> {
  switch (request.op) {
    case 'query_range':
      return yield* readQuery(request.query, naming, settings);
    case 'query':
      if (request.query.ast.kind === 'log') throw apiError('badRequest', { text: instantLogText });
      return yield* readQuery(request.query, naming, settings, instant);
    case 'labels':
      return { kind: 'label-names', selectors: [matchersOf(request.query)] };
    case 'label_values':
      return {
        kind: 'label-values',
        name: naming.selectorName(request.name),
        selectors: [matchersOf(request.query)],
      };
    case 'series': {
      const selectors: (readonly Matcher[])[] = [];
      for (const { matchers } of request.selectors) {
        // No matchers select everything; if there are any, they must not match the empty value only.
        if (matchers.length > 0) requireNonEmptyMatcher(matchers);
        selectors.push(matchers);
        yield;
      }
      return { kind: 'series', selectors: selectors.length === 0 ? everyStream : selectors };
    }
    case 'index_stats':
      return { kind: 'index-stats', selectors: [matchersOf(request.query)] };
    case 'tail':
      if (request.query.ast.kind !== 'log') throw apiError('tailNeedsLogs', {});
      return yield* readQuery(request.query, naming, settings);
    case 'delete':
      return parseDeletion(request.query, settings);
    case 'deletions':
      return { kind: 'deletions' };
    case 'format_query':
      return { kind: 'format', expr: request.query.ast };
    case 'tenant':
      return { kind: 'tenant' };
    case 'volume':
    case 'volume_range':
      return readVolume(request, naming);
    case 'index_shards': {
      const { ast } = request.query;
      checkStages(ast);
      return { kind: 'shards', selectors: logQueriesOf(ast).map(({ selector }) => selector.matchers) };
    }
    case 'detected_labels':
      return { kind: 'detected-labels', selectors: [matchersOf(request.query)] };
    case 'detected_fields':
    case 'detected_field_values':
      return readScan(request, naming, settings);
    case 'patterns':
      return { kind: 'patterns', selectors: [matchersOf(request.query)] };
  }
}

const everyStream: readonly (readonly Matcher[])[] = [[]];

/** The limits by which Loki splits instant queries. */
const instant: MetricSettings = { kind: 'instant', splitMs: defaultMetricLimits.splitMs };

/**
 * Parses a query, with the names of labels in this naming.
 * @throws LogqlError, ApiError as readRequest
 */
export function* readQuery(
  query: Query,
  naming: Naming,
  { pushdown = 'on', filters = 'loki', approxTopk = 'loki' }: PlanSettings = {},
  metric: MetricSettings = { kind: 'range', splitMs: 0 },
): Steps<CheckedLogs | CheckedMetric> {
  checkSelectors(query.ast);
  yield* checkSteps(query.ast);
  yield;
  const expr = withFilters(withClientNames(query.ast, naming), filters);
  if (expr.kind === 'log') return { kind: 'logs', expr, pushdown };
  return { kind: 'metric', ...planLeaves(expr, { ...metric, approxTopk }), pushdown };
}

/**
 * A query with the names that clients see. With `-logql-dotted-names=accept`, queries may use stored names with dots although labels or
 * metadata are shown with underscores; otherwise the query is unchanged.
 */
export function withClientNames<Query extends Expr>(expr: Query, naming: Naming): Query {
  if (naming.dottedNames === 'reject' || naming.labelStyle === 'passthrough') return expr;
  const label = (name: string): string => naming.entryName(name);
  return mapLogQueries(expr, {
    label,
    log: (query) => ({
      ...query,
      stages: query.stages.map((stage) => descriptorOf(stage).rename(stage, label)),
    }),
    unwrap: (unwrap) => ({
      ...unwrap,
      name: label(unwrap.name),
      filters: unwrap.filters.map((filter) => labelFilter.rename(filter, label)),
    }),
  });
}

/** The matchers of a bare selector: if present it must select something, if absent everything is selected. */
function matchersOf(selector: Selector | undefined): readonly Matcher[] {
  if (selector === undefined) return [];
  requireNonEmptyMatcher(selector.matchers);
  return selector.matchers;
}

type Volume = Extract<DiscoveryRequest, { readonly op: 'volume' | 'volume_range' }>;
type Scan = Extract<DiscoveryRequest, { readonly op: 'detected_fields' | 'detected_field_values' }>;

function readVolume({ query, targetLabels, aggregateBy }: Volume, naming: Naming): CheckedRequest {
  const { matchers } = query;
  // Only in exactly this spelling may a selector be empty.
  if (query.text !== '{}') requireNonEmptyMatcher(matchers);
  if (targetLabels.length > 0) {
    const known = new Set(matchers.map(({ name }) => naming.selectorName(name)));
    const targets = new Set(targetLabels.map((name) => naming.selectorName(name)));
    // A requested label must be present, unless the selector restricts its value.
    const required = [...targets].filter((name) => !known.has(name));
    const present = required.map((name) => makeMatcher(name, '=~', '.+'));
    return { kind: 'volume', selectors: [[...matchers, ...present]], targets, required };
  }
  // Without targets, label sets have the labels of the selector, and sums by name cover every label.
  const isAll = matchers.length === 0 || aggregateBy === 'labels';
  const targets = isAll ? 'all' : new Set(matchers.map(({ name }) => name));
  return { kind: 'volume', selectors: [matchers], targets, required: [] };
}

function readScan(
  { query }: Scan,
  naming: Naming,
  { pushdown = 'on', filters = 'loki' }: PlanSettings,
): CheckedFields {
  checkSelectors(query.ast);
  checkStages(query.ast);
  const expr = withFilters(withClientNames(query.ast, naming), filters);
  if (expr.kind !== 'log') throw apiError('badRequest', { text: 'only log selector is supported' });
  return { kind: 'detected-fields', expr, pushdown };
}
