import { ascending, countState, descending, maxState, minState, sumState } from '../../metric/states.js';
import { groupMeanState, groupDeviationState, groupVarianceState } from '../../metric/moments.js';
import { byAverage, byMax, byMin, bySum } from '../join.js';
import { isShardedRange } from '../range/index.js';
import type { Grouping } from '../../ast.js';
import type { VectorFunction } from './descriptor.js';

export const approxTopk: VectorFunction = {
  parameter: 'required',
  evaluation: { kind: 'choose', order: descending },
  join: undefined,
  timeParts: undefined,
  shardsOver: () => true,
  groupingFault: () => 'grouping not allowed for approx_topk aggregation',
  isSketched: true,
};

export const avg: VectorFunction = {
  parameter: 'refused',
  evaluation: { kind: 'fold', state: groupMeanState },
  join: byAverage,
  timeParts: 'each',
  shardsOver: (expr, reducesLabels) => !reducesLabels(expr),
};

export const bottomk: VectorFunction = {
  parameter: 'required',
  evaluation: { kind: 'choose', order: ascending },
  join: undefined,
  timeParts: undefined,
  shardsOver: undefined,
};

export const count: VectorFunction = {
  parameter: 'refused',
  evaluation: { kind: 'fold', state: countState },
  join: undefined,
  timeParts: 'all',
  shardsOver: (expr, reducesLabels) => !reducesLabels(expr),
  unit: 'none',
};

export const max: VectorFunction = {
  parameter: 'refused',
  evaluation: { kind: 'fold', state: maxState },
  join: byMax,
  timeParts: 'each',
  shardsOver: isShardedRange,
};

export const min: VectorFunction = {
  parameter: 'refused',
  evaluation: { kind: 'fold', state: minState },
  join: byMin,
  timeParts: 'each',
  shardsOver: isShardedRange,
};

export const sort: VectorFunction = {
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

export const sortDesc: VectorFunction = { ...sort, evaluation: { kind: 'order', order: descending } };

export const stddev: VectorFunction = {
  parameter: 'refused',
  evaluation: { kind: 'fold', state: groupDeviationState },
  join: undefined,
  timeParts: undefined,
  shardsOver: undefined,
};

export const stdvar: VectorFunction = {
  parameter: 'refused',
  evaluation: { kind: 'fold', state: groupVarianceState },
  join: undefined,
  timeParts: undefined,
  shardsOver: undefined,
  unit: 'none',
};

export const sum: VectorFunction = {
  parameter: 'refused',
  evaluation: { kind: 'fold', state: sumState },
  join: bySum,
  timeParts: 'each',
  shardsOver: (expr) => expr.kind !== 'vector-aggregation' || (expr.op !== 'min' && expr.op !== 'max'),
};

/** The aggregation that chooses the greatest values. */
export const chooseGreatest = 'topk';

export const topk: VectorFunction = {
  parameter: 'required',
  evaluation: { kind: 'choose', order: descending },
  join: undefined,
  timeParts: 'all',
  shardsOver: undefined,
};
