import type { VectorOp } from '../../ast.js';
import { approxTopk } from './approx-topk.js';
import { avg } from './avg.js';
import { bottomk } from './bottomk.js';
import { count } from './count.js';
import type { VectorFunction } from './descriptor.js';
import { max } from './max.js';
import { min } from './min.js';
import { sortDesc } from './sort-desc.js';
import { sort } from './sort.js';
import { stddev } from './stddev.js';
import { stdvar } from './stdvar.js';
import { sum } from './sum.js';
import { topk } from './topk.js';

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
