import type { ApiRequest } from '../api/request.js';
import type { Query, Selector } from '../api/query.js';
import { apiError } from '../errors/table.js';
import { checkStages, requireNonEmptyMatcher } from '../logql/index.js';
import { everything, or } from '../logsql/build.js';
import type { LogsqlFilter } from '../logsql/ast.js';
import type { Naming } from '../names/naming.js';
import { isConstant } from './constants.js';
import { planLogs } from './logs.js';
import { planMatchers } from './matchers.js';
import type { Plan } from './types.js';

const instantLogText =
  'log queries are not supported as an instant query type, please change your query to a range query type';

/**
 * Says what a request means in the backend's terms.
 * @throws LogqlError with the reference's text for a query it refuses, ApiError for what is not evaluated
 */
export function planRequest(request: ApiRequest, naming: Naming): Plan {
  switch (request.op) {
    case 'query_range':
      return planQuery(request.query, naming);
    case 'query': {
      if (request.query.ast.kind === 'log') throw apiError('badRequest', { text: instantLogText });
      return planQuery(request.query, naming);
    }
    case 'labels':
      return { kind: 'label-names', filter: selectorFilter(request.query, naming) };
    case 'label_values':
      return { kind: 'label-values', name: request.name, filter: selectorFilter(request.query, naming) };
    case 'series': {
      const filters = request.selectors.map(({ matchers }) => planMatchers(matchers, naming).filter);
      return { kind: 'series', filter: filters.length === 0 ? everything : or(...filters) };
    }
    case 'index_stats':
      return { kind: 'index-stats', filter: selectorFilter(request.query, naming) };
    case 'format_query':
      return { kind: 'format', expr: request.query.ast };
  }
}

function planQuery(query: Query, naming: Naming): Plan {
  const { ast } = query;
  checkStages(ast);
  if (ast.kind === 'log') return planLogs(ast, naming).plan;
  if (!isConstant(ast)) throw apiError('metricNotYet', {});
  return { kind: 'constant', expr: ast };
}

/** A selector that is given must select something; none selects everything. */
function selectorFilter(selector: Selector | undefined, naming: Naming): LogsqlFilter {
  if (selector === undefined) return everything;
  requireNonEmptyMatcher(selector.matchers);
  return planMatchers(selector.matchers, naming).filter;
}
