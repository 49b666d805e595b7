import { bySum } from '../../core/logql/functions/join.js';
import { countLines } from '../../core/logql/functions/range/index.js';
import type { LogExpr, VectorAggregation } from '../../core/logql/index.js';

/** `sum by (<labels>) (count_over_time(<query> | drop __error__ [<interval>]))`. */
export function lineCounts(
  query: LogExpr,
  labels: readonly string[],
  intervalNanoseconds: bigint,
): VectorAggregation {
  const { span } = query;
  const dropErrors = {
    kind: 'drop',
    items: [{ name: '__error__', matcher: undefined, span }],
    span,
  } as const;
  return {
    kind: 'vector-aggregation',
    op: bySum.op,
    parameter: undefined,
    grouping: { without: false, labels, span },
    expr: {
      kind: 'range-aggregation',
      op: countLines,
      parameter: undefined,
      grouping: undefined,
      range: {
        kind: 'log-range',
        query: { ...query, stages: [...query.stages, dropErrors] },
        unwrap: undefined,
        intervalNanoseconds,
        offsetNanoseconds: 0n,
        span,
      },
      span,
    },
    span,
  };
}
