import { apiError } from '../../base/errors/table.js';
import type {
  Grouping,
  LabelReplaceExpr,
  MetricExpr,
  RangeAggregation,
  RangeOp,
  VectorAggregation,
  VectorOp,
} from '../ast.js';
import { requireNonEmptyMatcher } from '../parse.js';
import { visit } from '../walk.js';
import { dividedTree, type Undivided } from './instant-parts.js';
import type { MetricTree, PlannedMetric } from './tree.js';
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
 * Finds the parts of an expression that read logs.
 * @param splitMs for an instant query, how long the parts are into which Loki divides a range; 0 for others
 * @throws ApiError `approxTopk`, as Loki does with its default settings
 * @throws LogqlError or ApiError `numberAsVector` for a function of a number
 */
export function planLeaves(expr: MetricExpr, splitMs = 0): PlannedMetric<Leaf> {
  visit(expr, (node) => {
    if (node.kind === 'vector-aggregation' && node.op === 'approx_topk') throw apiError('approxTopk', {});
    const isOfNumber = node.kind === 'vector-aggregation' || node.kind === 'label-replace';
    if (isOfNumber && node.expr.kind === 'literal') refuseNumber(node);
  });
  const undivided: Undivided = {
    tree: (node) => treeOf(node, undefined, node === expr),
    leaf: (range, around) => leafOf(range, undefined, around, range === expr),
  };
  return { expr, tree: dividedTree(expr, splitMs, undivided) ?? treeOf(expr, undefined, true) };
}

/** Loki sends these aggregations to its queriers, which look for the selector of the number. */
const shardedOps: ReadonlySet<VectorOp> = new Set(['sum', 'avg', 'count'] as const);

function refuseNumber(node: VectorAggregation | LabelReplaceExpr): never {
  if (node.kind === 'vector-aggregation' && shardedOps.has(node.op)) requireNonEmptyMatcher([]);
  throw apiError('numberAsVector', {});
}

/** @param around the aggregation whose samples the node is */
function treeOf(node: MetricExpr, around: VectorAggregation | undefined, isRoot: boolean): MetricTree<Leaf> {
  switch (node.kind) {
    case 'range-aggregation':
      return { kind: 'leaf', leaf: leafOf(node, undefined, around, isRoot) };
    case 'vector-aggregation': {
      const pushed = pushedGrouping(node);
      return pushed !== undefined && node.expr.kind === 'range-aggregation'
        ? { kind: 'leaf', leaf: leafOf(node.expr, pushed, undefined, isRoot) }
        : { kind: 'aggregate', node, of: treeOf(node.expr, node, false) };
    }
    case 'label-replace':
      return { kind: 'label-replace', node, of: treeOf(node.expr, undefined, false) };
    case 'binary': {
      const left = treeOf(node.left, undefined, false);
      return { kind: 'binary', node, left, right: treeOf(node.right, undefined, false) };
    }
    case 'vector':
    case 'literal':
      return node;
  }
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
