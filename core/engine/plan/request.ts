import type { ApiRequest } from '../../wire/api/request.js';
import type { Query } from '../../wire/api/query.js';
import { apiError } from '../../base/errors/table.js';
import { checkSelectors, checkSteps, requireNonEmptyMatcher, withFilters } from '../../logql/index.js';
import { defaultMetricLimits } from '../../logql/metric/index.js';
import type { LogsqlFilter } from '../../victoria/logsql/ast.js';
import { everything, or } from '../../victoria/logsql/build.js';
import type { Naming } from '../../victoria/names/naming.js';
import { withClientNames } from './client-names.js';
import { planDeletion } from './deletion.js';
import { planDiscovery } from './discovery.js';
import { matcherSteps, selectorFilter } from './matchers.js';
import { doAll, type Steps } from '../../base/pace/steps.js';
import { logsSteps } from './logs.js';
import { metricSteps } from './metric.js';
import type { PlanSettings } from './settings.js';
import type { Plan } from './types.js';

const instantLogText =
  'log queries are not supported as an instant query type, please change your query to a range query type';

/**
 * Says what a request means in the backend's terms.
 * @throws LogqlError with Loki's text for a query it refuses, ApiError for what is not evaluated
 */
export function planRequest(request: ApiRequest, naming: Naming, settings: PlanSettings = {}): Plan {
  return doAll(planSteps(request, naming, settings));
}

/** The same bit by bit, for queries that are long. */
export function* planSteps(request: ApiRequest, naming: Naming, settings: PlanSettings): Steps<Plan> {
  switch (request.op) {
    case 'query_range':
      return yield* querySteps(request.query, naming, settings, 'range');
    case 'query': {
      if (request.query.ast.kind === 'log') throw apiError('badRequest', { text: instantLogText });
      return yield* querySteps(request.query, naming, settings, 'instant');
    }
    case 'labels':
      return { kind: 'label-names', filter: selectorFilter(request.query, naming) };
    case 'label_values':
      return {
        kind: 'label-values',
        name: naming.selectorName(request.name),
        filter: selectorFilter(request.query, naming),
      };
    case 'series': {
      const filters: LogsqlFilter[] = [];
      for (const { matchers } of request.selectors) {
        // Nothing at all selects everything, matchers have to select something.
        if (matchers.length > 0) requireNonEmptyMatcher(matchers);
        filters.push((yield* matcherSteps(matchers, naming)).filter);
        yield;
      }
      return { kind: 'series', filter: filters.length === 0 ? everything : or(...filters) };
    }
    case 'index_stats':
      return { kind: 'index-stats', filter: selectorFilter(request.query, naming) };
    case 'tail':
      if (request.query.ast.kind !== 'log') throw apiError('tailNeedsLogs', {});
      return yield* querySteps(request.query, naming, settings, 'range');
    case 'delete':
      return planDeletion(request.query, naming, settings);
    case 'deletions':
      return { kind: 'deletions' };
    case 'format_query':
      return { kind: 'format', expr: request.query.ast };
    case 'tenant':
      return { kind: 'tenant' };
    case 'volume':
    case 'volume_range':
    case 'index_shards':
    case 'detected_labels':
    case 'detected_fields':
    case 'detected_field_values':
    case 'patterns':
      return planDiscovery(request, naming, settings);
  }
}

function* querySteps(
  query: Query,
  naming: Naming,
  { pushdown = 'on', filters = 'loki', approxTopk = 'loki' }: PlanSettings,
  kind: 'range' | 'instant',
): Steps<Plan> {
  checkSelectors(query.ast);
  yield* checkSteps(query.ast);
  yield;
  const ast = withFilters(withClientNames(query.ast, naming), filters);
  const { splitMs } = defaultMetricLimits;
  if (ast.kind !== 'log') return yield* metricSteps(ast, naming, pushdown, { kind, splitMs, approxTopk });
  const { plan } = yield* logsSteps(ast, naming, pushdown);
  return plan;
}
