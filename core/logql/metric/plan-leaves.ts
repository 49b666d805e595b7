import { apiError } from '../../base/errors/table.js';
import type { Grouping, LabelReplaceExpr, MetricExpr, RangeAggregation, VectorAggregation } from '../ast.js';
import { rangeFunctions } from '../functions/range/index.js';
import { vectorFunctions } from '../functions/vector/index.js';
import { requireNonEmptyMatcher } from '../parse.js';
import { pushedGrouping } from '../pipeline/extractor.js';
import { withoutUnread } from '../pipeline/unread-stages.js';
import { logQueriesOf, visit } from '../walk.js';
import { dividedTree, type Undivided } from './instant-parts.js';
import { frontParts, isShardableOver, mergedShards } from './shards.js';
import type { MetricTree, PlannedMetric } from './tree.js';
import type { ApproxTopk, Leaf } from './types.js';

/** Settings that affect the plan of a metric query. */
export interface MetricSettings {
  readonly kind: 'range' | 'instant';
  /** Length of the parts into which Loki splits the range of an instant query; 0 means that it does not. */
  readonly splitMs: number;
  readonly approxTopk?: ApproxTopk;
}

const rangeSettings: MetricSettings = { kind: 'range', splitMs: 0 };

/**
 * Finds the parts of an expression that read logs.
 * @throws ApiError `approxTopk`, as Loki does with its default settings, `approxTopkRange`
 * @throws LogqlError or ApiError `numberAsVector` for a function of a number
 */
export function planLeaves(expr: MetricExpr, settings = rangeSettings): PlannedMetric<Leaf> {
  checkApproxTopk(expr, settings);
  visit(expr, (node) => {
    const isOfNumber = node.kind === 'vector-aggregation' || node.kind === 'label-replace';
    if (isOfNumber && node.expr.kind === 'literal') refuseNumber(node);
  });
  const undivided: Undivided = {
    tree: (node) => wholeTree(node, node === expr),
    leaf: (range, around) => leafOf(range, undefined, around, range === expr),
  };
  const splitMs = settings.kind === 'instant' ? settings.splitMs : 0;
  return { expr, tree: dividedTree(expr, splitMs, undivided) ?? wholeTree(expr, true) };
}

/**
 * Loki splits `approx_topk` by a sketch, which it only has for instant queries, and only if it is enabled; unsplit it is always allowed.
 */
function checkApproxTopk(expr: MetricExpr, { kind, approxTopk = 'loki' }: MetricSettings): void {
  const found: VectorAggregation[] = [];
  visit(expr, (node) => {
    if (node.kind === 'vector-aggregation' && isSketched(node)) found.push(node);
  });
  if (found.length === 0) return;
  const isRefused = frontParts(expr).aggregations.some(
    ({ node, isDivided }) => isDivided && isSketched(node),
  );
  if (isRefused && approxTopk === 'loki') throw apiError('approxTopk', {});
  if (found.some((node) => logQueriesOf(node).length === 0)) requireNonEmptyMatcher([]);
  if (kind === 'range') throw apiError('approxTopkRange', {});
}

function isSketched({ op }: VectorAggregation): boolean {
  return vectorFunctions[op].isSketched === true;
}

function refuseNumber(node: VectorAggregation | LabelReplaceExpr): never {
  // Loki sends split queries to its queriers, which require a selector, and a number has none.
  if (node.kind === 'vector-aggregation' && isShardableOver(node.op, node.expr)) requireNonEmptyMatcher([]);
  throw apiError('numberAsVector', {});
}

/** The tree of an expression that Loki does not split by time. */
function wholeTree(expr: MetricExpr, isRoot: boolean): MetricTree<Leaf> {
  const { aggregations, ranges } = frontParts(expr);
  const averages = aggregations
    .filter(({ node, isDivided }) => isDivided && vectorFunctions[node.op].join?.kind === 'divided')
    .map(({ node }) => node);
  return treeOf(expr, undefined, isRoot, { averages: new Set(averages), ranges });
}

/** The parts of an expression that Loki's front end evaluates from shards. */
interface Divided {
  /** Averages that it splits into a sum and a count. */
  readonly averages: ReadonlySet<VectorAggregation>;
  readonly ranges: ReadonlySet<RangeAggregation>;
}

/** @param around the aggregation over the samples of the node */
function treeOf(
  node: MetricExpr,
  around: VectorAggregation | undefined,
  isRoot: boolean,
  divided: Divided,
): MetricTree<Leaf> {
  switch (node.kind) {
    case 'range-aggregation': {
      const merged = divided.ranges.has(node) ? mergedShards(node) : undefined;
      return merged === undefined
        ? { kind: 'leaf', leaf: leafOf(node, undefined, around, isRoot) }
        : treeOf(merged, undefined, isRoot, { ...divided, ranges: new Set() });
    }
    case 'vector-aggregation': {
      const pushed = pushedGrouping(node);
      return pushed !== undefined && node.expr.kind === 'range-aggregation'
        ? { kind: 'leaf', leaf: leafOf(node.expr, pushed, undefined, isRoot) }
        : {
            kind: 'aggregate',
            node,
            of: treeOf(node.expr, node, false, divided),
            isDivided: divided.averages.has(node),
          };
    }
    case 'label-replace':
      return { kind: 'label-replace', node, of: treeOf(node.expr, undefined, false, divided) };
    case 'binary': {
      const left = treeOf(node.left, undefined, false, divided);
      return { kind: 'binary', node, left, right: treeOf(node.right, undefined, false, divided) };
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
  const runsWithParent = isFold(around) && vectorFunctions[around.op].shardsOver !== undefined;
  const { join } = rangeFunctions[range.op];
  // Loki's front end runs these as separate queries unless they are inside an aggregation.
  const isCapped = !isRoot && !runsWithParent && join !== undefined && join.kind !== 'divided';
  const folded = foldedGrouping(around);
  const isMerged = range.grouping === undefined && join?.kind === 'chosen' && join.op === around?.op;
  return {
    range: withoutUnread(range, pushed),
    pushed,
    folded,
    merged: isMerged && folded !== undefined ? { ...folded, isMerged } : undefined,
    isCapped,
    isRoot,
  };
}

/** The grouping of an aggregation that uses no other labels of its series. */
function foldedGrouping(around: VectorAggregation | undefined): Grouping | undefined {
  if (!isFold(around)) return undefined;
  return around.grouping ?? { span: around.span, without: false, labels: [] };
}

function isFold(around: VectorAggregation | undefined): around is VectorAggregation {
  return around !== undefined && vectorFunctions[around.op].evaluation.kind === 'fold';
}
