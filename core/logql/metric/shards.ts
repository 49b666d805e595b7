/**
 * Which parts of a query Loki's front end divides into shards. It shows in three places: an average that is divided is a sum over a count,
 * labels without a value are lost where shards are joined, and `approx_topk` is refused where it would be divided
 * (docs/protocol/answers.md#shards).
 */
import type {
  Grouping,
  LabelFilter,
  MetricExpr,
  RangeAggregation,
  RangeOp,
  VectorAggregation,
} from '../ast.js';
import { visit } from '../walk.js';

const undividedOps: ReadonlySet<RangeOp> = new Set<RangeOp>([
  'absent_over_time',
  'rate_counter',
  'stddev_over_time',
  'stdvar_over_time',
]);

/** Range functions whose values in parts of the logs add up to the whole value, also by group. */
export const addableOps: ReadonlySet<RangeOp> = new Set<RangeOp>([
  'count_over_time',
  'rate',
  'bytes_over_time',
  'bytes_rate',
  'sum_over_time',
]);

/** An aggregation that the front end evaluates over what queriers return. */
export interface FrontAggregation {
  readonly node: VectorAggregation;
  /** Whether it is divided itself, instead of only what is in it. */
  readonly isDivided: boolean;
}

/** The aggregations of a query that the front end evaluates; it leaves all others to queriers, as part of a shard. */
export function frontAggregations(expr: MetricExpr): readonly FrontAggregation[] {
  const found: FrontAggregation[] = [];
  /** @param isTop whether no aggregation is around the node */
  const enter = (node: MetricExpr, isTop: boolean): void => {
    switch (node.kind) {
      case 'binary':
        enter(node.left, isTop);
        enter(node.right, isTop);
        return;
      case 'label-replace':
        enter(node.expr, isTop);
        return;
      case 'vector-aggregation': {
        const isDivided = isShardable(node, isTop);
        found.push({ node, isDivided });
        const isWhole = isDivided ? !isDividedWithin(node) : node.op === 'approx_topk';
        if (!isWhole) enter(node.expr, false);
        return;
      }
      case 'range-aggregation':
      case 'vector':
      case 'literal':
    }
  };
  enter(expr, true);
  return found;
}

/** Whether a shardable aggregation is evaluated over the shards of what is in it, because its own parts could not be joined. */
function isDividedWithin({ op, expr }: VectorAggregation): boolean {
  if (op !== 'sum' && op !== 'min' && op !== 'max') return false;
  return reducesLabels(expr) && (op !== 'sum' || !isAddable(expr));
}

function isShardable(node: MetricExpr, isTop: boolean): boolean {
  switch (node.kind) {
    case 'literal':
      return true;
    case 'vector':
    case 'label-replace':
      return false;
    case 'range-aggregation':
      return node.op === 'quantile_over_time' ? isTop : !undividedOps.has(node.op);
    case 'binary': {
      const { op, matching } = node;
      if (op !== '+' && op !== '*') return false;
      if (matching !== undefined && (matching.on || matching.labels.length > 0)) return false;
      return isShardable(node.left, isTop) && isShardable(node.right, isTop);
    }
    case 'vector-aggregation':
      return isShardable(node.expr, isTop) && isShardableOver(node);
  }
}

/** Whether an aggregation of something shardable is. */
function isShardableOver({ op, expr }: VectorAggregation): boolean {
  switch (op) {
    case 'sum':
      return expr.kind !== 'vector-aggregation' || (expr.op !== 'min' && expr.op !== 'max');
    case 'avg':
    case 'count':
      return !reducesLabels(expr);
    case 'min':
    case 'max':
      return expr.kind === 'range-aggregation' && expr.op !== 'quantile_over_time';
    case 'approx_topk':
      return true;
    case 'stddev':
    case 'stdvar':
    case 'topk':
    case 'bottomk':
    case 'sort':
    case 'sort_desc':
      return false;
  }
}

/** Whether groupings or stages can make different label sets equal, so that a series may be in several shards. */
export function reducesLabels(expr: MetricExpr): boolean {
  let reduces = false;
  visit(expr, (node) => {
    switch (node.kind) {
      case 'range-aggregation':
      case 'vector-aggregation':
        reduces ||= node.grouping !== undefined && node.grouping.labels.length > 0;
        return;
      case 'label-format':
        reduces ||= node.assignments.some(({ kind }) => kind === 'rename');
        return;
      case 'drop':
      case 'keep':
        reduces = true;
        return;
      default:
    }
  });
  return reduces;
}

/** Whether the values of an expression in all shards add up to its value. */
function isAddable(expr: MetricExpr): boolean {
  let isSum = true;
  visit(expr, (node) => {
    if (node.kind === 'range-aggregation') isSum &&= addableOps.has(node.op);
    if (node.kind === 'vector-aggregation') isSum &&= node.op !== 'avg';
  });
  return isSum;
}

/** Whether an average over time is the sum of its shards divided by their count. */
export function isDividedAverage(node: RangeAggregation): boolean {
  const { op, grouping, range } = node;
  if (op !== 'avg_over_time') return false;
  const namesErrors = range.unwrap?.filters.some(({ filter }) => namesError(filter)) ?? false;
  return !namesErrors && (reducesLabels(node) || (grouping !== undefined && !keepsAll(grouping)));
}

/** Whether a grouping leaves the labels as they are. */
export function keepsAll({ without, labels }: Pick<Grouping, 'without' | 'labels'>): boolean {
  return without && labels.length === 0;
}

function namesError(filter: LabelFilter): boolean {
  if ('left' in filter) return namesError(filter.left) || namesError(filter.right);
  return filter.name === '__error__';
}
