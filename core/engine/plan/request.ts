import type { DiscoveryRequest } from '../../wire/api/discovery-request.js';
import type { ApiRequest } from '../../wire/api/request.js';
import type { Query, Selector } from '../../wire/api/query.js';
import { apiError } from '../../base/errors/table.js';
import type { Steps } from '../../base/pace/steps.js';
import type { Expr, Matcher } from '../../logql/ast.js';
import {
  checkSelectors,
  checkStages,
  checkSteps,
  logQueriesOf,
  makeMatcher,
  mapLogQueries,
  requireNonEmptyMatcher,
  withFilters,
} from '../../logql/index.js';
import { defaultMetricLimits, planLeaves, type MetricSettings } from '../../logql/metric/index.js';
import { descriptorOf } from '../../logql/stages/index.js';
import { labelFilter } from '../../logql/stages/label-filter.js';
import type { Naming } from '../../victoria/names/naming.js';
import type {
  CheckedRequest,
  CheckedFields,
  CheckedLogs,
  CheckedMetric,
  PlanSettings,
} from './checked-request.js';
import { parseDeletion } from './deletion.js';

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
