/**
 * The parts of a query that Loki's front end splits into shards. That is visible in four ways: a split average is a sum over a count,
 * labels without a value are dropped where shards are merged, series with an error that a filter kept are merged like all others, and
 * `approx_topk` is refused where it would be split (docs/protocol/answers.md#shards).
 */
import type {
  BinaryExpr,
  Grouping,
  LogRange,
  MetricExpr,
  RangeAggregation,
  Stage,
  VectorAggregation,
  VectorOp,
} from '../ast.js';
import { bySum } from '../functions/join.js';
import { rangeFunctions } from '../functions/range/index.js';
import { vectorFunctions } from '../functions/vector/index.js';
import { errorLabel } from '../pipeline/types.js';
import { descriptorOf, isStage, looksAt } from '../stages/index.js';
import { withLabel } from '../stages/label-filter.js';
import { isAny } from '../stages/stage.js';
import { visit } from '../walk.js';
import type { Leaf } from './work.js';

/** An aggregation that the front end evaluates over the results of queriers. */
export interface FrontAggregation {
  readonly node: VectorAggregation;
  /** True if the aggregation itself is split, rather than only its operand. */
  readonly isDivided: boolean;
}

/** The parts of a query that the front end sees; all others are left to queriers, as part of a shard. */
export interface FrontParts {
  readonly aggregations: readonly FrontAggregation[];
  /** Range aggregations whose shards the front end merges. */
  readonly ranges: ReadonlySet<RangeAggregation>;
}

export function frontParts(expr: MetricExpr): FrontParts {
  const aggregations: FrontAggregation[] = [];
  const ranges = new Set<RangeAggregation>();
  /** @param isTop true if no aggregation surrounds the node */
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
        aggregations.push({ node, isDivided });
        const isWhole = vectorFunctions[node.op].isSketched ?? (isDivided && !isDividedWithin(node));
        if (!isWhole) enter(node.expr, false);
        return;
      }
      case 'range-aggregation':
        if (isShardable(node, isTop)) ranges.add(node);
        return;
      case 'vector':
      case 'literal':
    }
  };
  enter(expr, true);
  return { aggregations, ranges };
}

/** True if a shardable aggregation is evaluated over the shards of its operand, because its own parts could not be merged. */
function isDividedWithin({ op, expr }: VectorAggregation): boolean {
  return reducesLabels(expr) && !(vectorFunctions[op].join?.kind === 'added' && isAddable(expr));
}

function isShardable(node: MetricExpr, isTop: boolean): boolean {
  switch (node.kind) {
    case 'literal':
      return true;
    case 'vector':
    case 'label-replace':
      return false;
    case 'range-aggregation': {
      const { shards } = rangeFunctions[node.op];
      return shards === 'outermost' ? isTop : shards === 'always';
    }
    case 'binary': {
      const { op, matching } = node;
      if (op !== '+' && op !== '*') return false;
      if (matching !== undefined && (matching.on || matching.labels.length > 0)) return false;
      return isShardable(node.left, isTop) && isShardable(node.right, isTop);
    }
    case 'vector-aggregation':
      return isShardable(node.expr, isTop) && isShardableOver(node.op, node.expr);
  }
}

/** True if an aggregation is shardable, given that its operand is. */
export function isShardableOver(op: VectorOp, expr: MetricExpr): boolean {
  return vectorFunctions[op].shardsOver?.(expr, reducesLabels) ?? false;
}

/** True when groupings or stages can make different label sets equal, so that a series may be in several shards. */
export function reducesLabels(expr: MetricExpr): boolean {
  let reduces = false;
  visit(expr, (node) => {
    if (isStage(node)) reduces ||= isAny(descriptorOf(node).loses(node));
    else if (node.kind === 'range-aggregation' || node.kind === 'vector-aggregation')
      reduces ||= node.grouping !== undefined && node.grouping.labels.length > 0;
  });
  return reduces;
}

/** True if the values of an expression in all shards add up to its value. */
function isAddable(expr: MetricExpr): boolean {
  let isSum = true;
  visit(expr, (node) => {
    if (node.kind === 'range-aggregation') isSum &&= rangeFunctions[node.op].join?.kind === 'added';
    if (node.kind === 'vector-aggregation') isSum &&= vectorFunctions[node.op].join?.kind !== 'divided';
  });
  return isSum;
}

/** True when an average over time is the sum of its shards divided by their count. */
export function isDividedAverage(node: RangeAggregation): boolean {
  const { op, grouping, range } = node;
  if (rangeFunctions[op].join?.kind !== 'divided') return false;
  return (
    !looksAtErrors(range.unwrap?.filters ?? []) &&
    (reducesLabels(node) || (grouping !== undefined && !keepsAll(grouping)))
  );
}

/**
 * The expression by which the front end merges the shards of a range aggregation; undefined if its own series are the same, as they are
 * unless a filter may have kept a sample with an error, which is a separate series with all labels.
 */
export function mergedShards(node: RangeAggregation): VectorAggregation | BinaryExpr | undefined {
  const { op, grouping, range, span } = node;
  const { join } = rangeFunctions[op];
  // Without a grouping by names Loki keeps no error: the query fails.
  if (grouping === undefined || grouping.without || !readsErrors(range)) return undefined;
  if (join?.kind === 'chosen') return mergingShards(node, join.op);
  if (!isDividedAverage(node)) return undefined;
  if (join?.quotient === undefined) return undefined;
  const { total, count } = join.quotient;
  const added: RangeAggregation = { ...node, op: total, grouping: undefined };
  const counted: RangeAggregation = { ...added, op: count, range: withoutUnwrap(range) };
  return {
    kind: 'binary',
    op: '/',
    left: mergingShards(added, bySum.op, grouping),
    right: mergingShards(counted, bySum.op, grouping),
    returnBool: false,
    matching: undefined,
    span,
  };
}

/** The aggregation by which the front end merges series of shards, or of parts of a range. */
export function mergingShards(
  expr: RangeAggregation,
  op: VectorOp,
  grouping = expr.grouping,
): VectorAggregation {
  const { span } = expr;
  const groups = grouping ?? { span, without: true, labels: [] };
  return { kind: 'vector-aggregation', op, parameter: undefined, grouping: groups, expr, span };
}

/** A range whose lines have a value to unwrap. */
function withoutUnwrap({ unwrap, query, ...range }: LogRange): LogRange {
  if (unwrap === undefined) return { ...range, query, unwrap };
  const { name, filters, span } = unwrap;
  const stages = [...query.stages, withLabel(name, span), ...filters];
  return { ...range, query: { ...query, stages }, unwrap: undefined };
}

/** True if a filter may keep a sample with an error. */
export function readsErrors({ query, unwrap }: LogRange): boolean {
  return looksAtErrors([...query.stages, ...(unwrap?.filters ?? [])]);
}

function looksAtErrors(stages: readonly Stage[]): boolean {
  return stages.some((stage) => looksAt(stage, (name) => name === errorLabel));
}

/**
 * Tells whether the series of a leaf keep labels with empty values. Loki keeps them, but drops them where it splits a query into shards and
 * merges these by an aggregation without labels, or an average by a division.
 */
export function keepsEmptyLabels({ range, pushed }: Leaf): boolean {
  if (pushed !== undefined) return !pushed.without;
  const { op, grouping } = range;
  const { join } = rangeFunctions[op];
  if (join === undefined) return true;
  if (join.kind === 'divided') return !isDividedAverage(range);
  if (grouping === undefined || keepsAll(grouping)) return !reducesLabels(range);
  return !grouping.without;
}

/** True when a grouping leaves the labels as they are. */
function keepsAll({ without, labels }: Pick<Grouping, 'without' | 'labels'>): boolean {
  return without && labels.length === 0;
}
