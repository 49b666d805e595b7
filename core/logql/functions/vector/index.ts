import type { Expr, Grouping, VectorOp } from '../../ast.js';
import { groupMeanState, groupDeviationState, groupVarianceState } from '../../metric/moments.js';
import { ascending, countState, descending, maxState, minState, sumState } from '../../metric/states.js';
import { byAverage, byMax, byMin, bySum } from '../join.js';
import { isShardedRange } from '../range/index.js';
import type { VectorFunction } from './descriptor.js';

/** The aggregation that chooses the greatest values. */
export const chooseGreatest = 'topk';

const sort: VectorFunction = {
  parameter: 'refused',
  evaluation: { kind: 'order', order: ascending },
  join: undefined,
  timeParts: 'all',
  shardsOver: undefined,
  groupingFault: sortFault,
};

/** Refuses a grouping by labels; an empty one is allowed. */
function sortFault({ labels }: Grouping): string | undefined {
  return labels.length > 0 ? "sort and sort_desc doesn't allow grouping by " : undefined;
}

/** All vector aggregations, by their names. */
export const vectorFunctions: Readonly<Record<VectorOp, VectorFunction>> = {
  sum: {
    parameter: 'refused',
    evaluation: { kind: 'fold', state: sumState },
    join: bySum,
    timeParts: 'each',
    shardsOver: (expr) => expr.kind !== 'vector-aggregation' || (expr.op !== 'min' && expr.op !== 'max'),
  },
  avg: {
    parameter: 'refused',
    evaluation: { kind: 'fold', state: groupMeanState },
    join: byAverage,
    timeParts: 'each',
    shardsOver: (expr, reducesLabels) => !reducesLabels(expr),
  },
  count: {
    parameter: 'refused',
    evaluation: { kind: 'fold', state: countState },
    join: undefined,
    timeParts: 'all',
    shardsOver: (expr, reducesLabels) => !reducesLabels(expr),
    unit: 'none',
  },
  max: {
    parameter: 'refused',
    evaluation: { kind: 'fold', state: maxState },
    join: byMax,
    timeParts: 'each',
    shardsOver: isShardedRange,
  },
  min: {
    parameter: 'refused',
    evaluation: { kind: 'fold', state: minState },
    join: byMin,
    timeParts: 'each',
    shardsOver: isShardedRange,
  },
  stddev: {
    parameter: 'refused',
    evaluation: { kind: 'fold', state: groupDeviationState },
    join: undefined,
    timeParts: undefined,
    shardsOver: undefined,
  },
  stdvar: {
    parameter: 'refused',
    evaluation: { kind: 'fold', state: groupVarianceState },
    join: undefined,
    timeParts: undefined,
    shardsOver: undefined,
    unit: 'none',
  },
  topk: {
    parameter: 'required',
    evaluation: { kind: 'choose', order: descending },
    join: undefined,
    timeParts: 'all',
    shardsOver: undefined,
  },
  bottomk: {
    parameter: 'required',
    evaluation: { kind: 'choose', order: ascending },
    join: undefined,
    timeParts: undefined,
    shardsOver: undefined,
  },
  approx_topk: {
    parameter: 'required',
    evaluation: { kind: 'choose', order: descending },
    join: undefined,
    timeParts: undefined,
    shardsOver: () => true,
    groupingFault: () => 'grouping not allowed for approx_topk aggregation',
    isSketched: true,
  },
  sort,
  sort_desc: { ...sort, evaluation: { kind: 'order', order: descending } },
};

/** True when the outermost function of a query sorts its series: only then does their order count. */
export function isSorting(query: Expr): boolean {
  return query.kind === 'vector-aggregation' && vectorFunctions[query.op].evaluation.kind === 'order';
}
