import type { VectorOp } from '../../ast.js';
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
