import type { Expr, VectorOp } from '../../ast.js';
import {
  approxTopk,
  avg,
  bottomk,
  count,
  max,
  min,
  sortDesc,
  sort,
  stddev,
  stdvar,
  sum,
  topk,
} from './functions.js';
import type { VectorFunction } from './descriptor.js';

/** All vector aggregations, by their names. */
export const vectorFunctions: Readonly<Record<VectorOp, VectorFunction>> = {
  sum,
  avg,
  count,
  max,
  min,
  stddev,
  stdvar,
  topk,
  bottomk,
  approx_topk: approxTopk,
  sort,
  sort_desc: sortDesc,
};

/** True when the outermost function of a query sorts its series: only then does their order count. */
export function isSorting(query: Expr): boolean {
  return query.kind === 'vector-aggregation' && vectorFunctions[query.op].evaluation.kind === 'order';
}
