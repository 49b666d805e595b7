import type { Expr } from './ast.js';
import { descriptorOf } from './stages/index.js';
import { labelFilter } from './stages/label-filter.js';
import { mapLogQueries } from './walk.js';

/** Whether regexps in filters are what Loki makes of them, or mean what they say (`-logql-filters`). */
export type Filters = 'loki' | 'exact';

/** A query whose filters mean this. The tree carries it to all who read one: evaluation, also in other threads, and pushdown. */
export function withFilters<E extends Expr>(expr: E, filters: Filters): E {
  if (filters === 'loki') return expr;
  return mapLogQueries(expr, {
    log: (query) => ({ ...query, stages: query.stages.map((stage) => descriptorOf(stage).exact(stage)) }),
    unwrap: (unwrap) => ({ ...unwrap, filters: unwrap.filters.map((filter) => labelFilter.exact(filter)) }),
  });
}
