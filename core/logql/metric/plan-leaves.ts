import { apiError } from '../../base/errors/table.js';
import type { Grouping, MetricExpr, RangeAggregation, RangeOp, VectorAggregation, VectorOp } from '../ast.js';
import { requireNonEmptyMatcher } from '../parse.js';
import { visit } from '../walk.js';
import type { Leaf } from './types.js';

/** A sum of these can use samples that are already grouped, because adding up by group first gives the same result. */
const addableOps: ReadonlySet<RangeOp> = new Set([
  'count_over_time',
  'rate',
  'bytes_over_time',
  'bytes_rate',
  'sum_over_time',
]);

/** Range functions that Loki's front end runs as separate queries unless they are inside an aggregation. */
const separatelyRunOps: ReadonlySet<RangeOp> = new Set([...addableOps, 'min_over_time', 'max_over_time']);
const parentOps: ReadonlySet<VectorOp> = new Set(['sum', 'avg', 'count', 'min', 'max']);
const foldingOps: ReadonlySet<VectorOp> = new Set([...parentOps, 'stddev', 'stdvar']);

/**
 * The grouping of an aggregation that may be applied to samples before the range function inside it: that of a sum over an additive
 * function. As in Loki, it also decides which labels parsers extract, and so which errors can occur
 * (docs/protocol/errors-and-limits.md#pipeline-errors).
 */
export function pushedGrouping({ op, expr, grouping, span }: VectorAggregation): Grouping | undefined {
  if (op !== 'sum' || expr.kind !== 'range-aggregation') return undefined;
  if (expr.grouping !== undefined || !addableOps.has(expr.op)) return undefined;
  return grouping ?? { span, without: false, labels: [] };
}

/**
 * The parts of an expression that read logs, by node, in evaluation order.
 * @throws ApiError `approxTopk`, as Loki does with its default settings
 * @throws LogqlError for an aggregation of a number
 */
export function planLeaves(expr: MetricExpr): ReadonlyMap<MetricExpr, Leaf> {
  visit(expr, (node) => {
    if (node.kind === 'vector-aggregation' && node.op === 'approx_topk') throw apiError('approxTopk', {});
    // Loki treats a number as a query without a selector.
    const isOfNumber = node.kind === 'vector-aggregation' || node.kind === 'label-replace';
    if (isOfNumber && node.expr.kind === 'literal') requireNonEmptyMatcher([]);
  });
  const leaves = new Map<MetricExpr, Leaf>();
  const pending: { readonly node: MetricExpr; readonly around: VectorAggregation | undefined }[] = [
    { node: expr, around: undefined },
  ];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { node, around } = next;
    const isRoot = node === expr;
    switch (node.kind) {
      case 'range-aggregation':
        leaves.set(node, leafOf(node, undefined, around, isRoot));
        break;
      case 'vector-aggregation': {
        const pushed = pushedGrouping(node);
        if (pushed !== undefined && node.expr.kind === 'range-aggregation') {
          leaves.set(node, leafOf(node.expr, pushed, undefined, isRoot));
        } else {
          pending.push({ node: node.expr, around: node });
        }
        break;
      }
      case 'label-replace':
        pending.push({ node: node.expr, around: undefined });
        break;
      case 'binary':
        pending.push({ node: node.right, around: undefined }, { node: node.left, around: undefined });
        break;
      case 'vector':
      case 'literal':
        break;
    }
  }
  return leaves;
}

function leafOf(
  range: RangeAggregation,
  pushed: Grouping | undefined,
  around: VectorAggregation | undefined,
  isRoot: boolean,
): Leaf {
  const runsWithParent = around !== undefined && parentOps.has(around.op);
  const isCapped = !isRoot && !runsWithParent && separatelyRunOps.has(range.op);
  return { range, pushed, folded: foldedGrouping(around), isCapped, isRoot };
}

/** The grouping of an aggregation that uses no other labels of its series. */
function foldedGrouping(around: VectorAggregation | undefined): Grouping | undefined {
  if (around === undefined || !foldingOps.has(around.op)) return undefined;
  return around.grouping ?? { span: around.span, without: false, labels: [] };
}
