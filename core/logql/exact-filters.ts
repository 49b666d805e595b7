import type { Expr, LabelFilter, LabelFilterStage, Stage } from './ast.js';
import { mapLogQueries } from './walk.js';

/** Whether regexps in filters are what Loki makes of them, or mean what they say (`-logql-filters`). */
export type Filters = 'loki' | 'exact';

/** A query whose filters mean this. The tree carries it to all who read one: evaluation, also in other threads, and pushdown. */
export function withFilters<E extends Expr>(expr: E, filters: Filters): E {
  if (filters === 'loki') return expr;
  return mapLogQueries(expr, {
    log: (query) => ({ ...query, stages: query.stages.map(exactStage) }),
    unwrap: (unwrap) => ({ ...unwrap, filters: unwrap.filters.map(exactLabelFilter) }),
  });
}

function exactStage(stage: Stage): Stage {
  if (stage.kind === 'line-filter') return { ...stage, isExact: true };
  return stage.kind === 'label-filter' ? exactLabelFilter(stage) : stage;
}

function exactLabelFilter(stage: LabelFilterStage): LabelFilterStage {
  return { ...stage, filter: exactTree(stage.filter) };
}

function exactTree(filter: LabelFilter): LabelFilter {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return { ...filter, left: exactTree(filter.left), right: exactTree(filter.right) };
    case 'string':
      return { ...filter, isExact: true };
    default:
      return filter;
  }
}
