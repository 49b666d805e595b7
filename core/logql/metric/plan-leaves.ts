import { apiError } from '../../base/errors/table.js';
import type {
  BinaryExpr,
  Grouping,
  LabelReplaceExpr,
  MetricExpr,
  RangeAggregation,
  Stage,
  VectorAggregation,
} from '../ast.js';
import { bySum, type Join } from '../functions/join.js';
import { rangeFunctions } from '../functions/range/index.js';
import { vectorFunctions } from '../functions/vector/index.js';
import { requireNonEmptyMatcher } from '../parse.js';
import { pushedGrouping } from '../pipeline/extractor.js';
import { withoutUnread } from '../pipeline/output.js';
import { descriptorOf } from '../stages/index.js';
import { isAny } from '../stages/stage.js';
import { logQueriesOf, visit } from '../walk.js';
import { frontParts, isShardableOver, mergedShards, mergingShards, readsErrors } from './shards.js';
import type { ApproxTopk, Leaf, MetricTree, PlannedMetric } from './work.js';

// Loki's front end splits instant queries over more than `split_queries_by_interval`: it splits the range into parts, and a surrounding
// aggregation into one per part, whose results are added up. That changes values: `max` over counts is the sum of the largest counts of the
// parts (docs/protocol/answers.md#instant-queries-over-long-ranges).

/** Plans expressions that are not split. */
interface Undivided {
  tree(node: MetricExpr): MetricTree<Leaf>;
  leaf(range: RangeAggregation, around: VectorAggregation | undefined): Leaf;
}

/** Maximum number of parts of one instant query. A query over a longer range is not split, because it would take too long. */
const maxParts = 48;

/** The tree of an instant query that Loki splits; undefined if it does not. */
function dividedTree(expr: MetricExpr, splitMs: number, undivided: Undivided): MetricTree<Leaf> | undefined {
  return splitMs > 0 && isDivisible(expr)
    ? new Division(BigInt(splitMs) * 1_000_000n, undivided).of(expr, undefined)
    : undefined;
}

/** The way to merge values of the parts of a range. */
function joinOf({ op }: RangeAggregation): Join | undefined {
  const { join } = rangeFunctions[op];
  return join?.kind === 'divided' ? undefined : join;
}

function isDivisible(expr: MetricExpr): boolean {
  switch (expr.kind) {
    case 'vector-aggregation':
      return vectorFunctions[expr.op].timeParts !== undefined && isDivisible(expr.expr);
    case 'range-aggregation':
      return joinOf(expr) !== undefined;
    case 'binary':
      return (
        isDivisible(expr.left) ||
        (expr.left.kind === 'literal' && isDivisible(expr.right)) ||
        expr.right.kind === 'literal'
      );
    case 'label-replace':
      return isDivisible(expr.expr);
    default:
      return false;
  }
}

class Division {
  readonly #splitNs: bigint;
  readonly #undivided: Undivided;

  constructor(splitNs: bigint, undivided: Undivided) {
    this.#splitNs = splitNs;
    this.#undivided = undivided;
  }

  /**
   * @param around the nearest aggregation that is also evaluated for each part
   * @returns undefined for an expression that Loki does not change
   */
  of(
    node: MetricExpr,
    around: VectorAggregation | undefined,
    parent?: VectorAggregation,
  ): MetricTree<Leaf> | undefined {
    switch (node.kind) {
      case 'range-aggregation':
        return this.#range(node, around, parent);
      case 'vector-aggregation':
        return this.#aggregation(node);
      case 'label-replace': {
        const of = this.of(node.expr, around);
        return of && { kind: 'label-replace', node, of };
      }
      case 'binary':
        return this.#binary(node, around);
      case 'literal':
        return node;
      case 'vector':
        return undefined;
    }
  }

  #aggregation(node: VectorAggregation): MetricTree<Leaf> | undefined {
    if (lastIntervalOf(node) <= this.#splitNs) return undefined;
    const isForEachPart = node.expr.kind !== 'binary' && vectorFunctions[node.op].timeParts !== 'all';
    const of = this.of(node.expr, isForEachPart ? node : undefined, node);
    if (of === undefined) return undefined;
    // A sum of sums is the sum, and can be pushed down to the backend.
    if (node.expr.kind !== 'range-aggregation' || pushedGrouping(node) === undefined)
      return { kind: 'aggregate', node, of };
    const whole = this.#undivided.tree(node);
    // Merging the parts drops labels without a value.
    return losesEmptyLabels(node.expr)
      ? {
          kind: 'aggregate',
          node,
          of: { kind: 'aggregate', node: mergingShards(node.expr, node.op), of: whole },
        }
      : whole;
  }

  #binary(node: BinaryExpr, around: VectorAggregation | undefined): MetricTree<Leaf> | undefined {
    const left = this.of(node.left, around);
    const right = left && this.of(node.right, around);
    return left && right && { kind: 'binary', node, left, right };
  }

  #range(
    node: RangeAggregation,
    around: VectorAggregation | undefined,
    parent: VectorAggregation | undefined,
  ): MetricTree<Leaf> | undefined {
    const join = joinOf(node);
    if (join === undefined || node.range.intervalNanoseconds <= this.#splitNs) return undefined;
    const extracts = node.range.query.stages.some(extractsAnyLabel);
    const amount = rangeFunctions[node.op].perSecondOf?.(node);
    const isRate = amount !== undefined;
    if (extracts && around === undefined && (node.grouping === undefined || isRate)) return undefined;
    if (extracts && isRate && around?.op !== join.op) return undefined;
    const areJustJoined = isJustJoined(node);
    const isWhole = around === undefined || (around.op === join.op && around.expr === node && !areJustJoined);
    const parts = isWhole ? [] : this.#partsOf(isRate ? { ...node, op: amount } : node);
    if (isWhole || parts.length > maxParts) return this.#whole(node, join, parent);
    const all: MetricTree<Leaf> = {
      kind: 'concat',
      parts: parts.map((part) =>
        this.#undivided.tree(isRate ? { ...around, expr: part } : withRange(around, part)),
      ),
    };
    if (areJustJoined) return all;
    const sum: MetricTree<Leaf> = { kind: 'aggregate', node: mergingShards(node, join.op), of: all };
    return isRate ? perSecond(sum, node) : sum;
  }

  /**
   * A range that need not be split, because its parts are merged. Merging drops labels without a value, and groups series with an error.
   */
  #whole(node: RangeAggregation, join: Join, parent: VectorAggregation | undefined): MetricTree<Leaf> {
    if (!makesLabels(node) && !readsErrors(node.range))
      return { kind: 'leaf', leaf: this.#undivided.leaf(node, parent) };
    const of: MetricTree<Leaf> = { kind: 'leaf', leaf: this.#undivided.leaf(node, undefined) };
    return { kind: 'aggregate', node: mergingShards(node, join.op), of };
  }

  /** The parts of a range, the latest first. */
  #partsOf(node: RangeAggregation): readonly RangeAggregation[] {
    const { intervalNanoseconds: whole, offsetNanoseconds: offset } = node.range;
    const count = Number((whole + this.#splitNs - 1n) / this.#splitNs);
    return Array.from({ length: Math.min(count, maxParts + 1) }, (_none, index) => {
      const before = BigInt(index) * this.#splitNs;
      const rest = whole - before;
      const intervalNanoseconds = rest < this.#splitNs ? rest : this.#splitNs;
      return { ...node, range: { ...node.range, intervalNanoseconds, offsetNanoseconds: offset + before } };
    });
  }
}

/** Loki uses the last range that it encounters. */
function lastIntervalOf(node: MetricExpr): bigint {
  let interval = 0n;
  visit(node, (each) => {
    if (each.kind === 'range-aggregation') interval = each.range.intervalNanoseconds;
  });
  return interval;
}

/** True for parsers that extract whatever labels a line has. */
function extractsAnyLabel(stage: Stage): boolean {
  const source = descriptorOf(stage).source(stage);
  return source !== undefined && source !== 'pieces' && source !== 'other-lines';
}

/** True if Loki only concatenates the series of the parts. */
function isJustJoined({ op, range }: RangeAggregation): boolean {
  return rangeFunctions[op].listsParts === true && range.query.stages.some(extractsAnyLabel);
}

/** True if merging the parts may drop labels with empty values. */
function losesEmptyLabels(node: RangeAggregation): boolean {
  return !isJustJoined(node) && makesLabels(node);
}

function makesLabels({ range }: RangeAggregation): boolean {
  return range.query.stages.some((stage) => isAny(descriptorOf(stage).makes(stage)));
}

function secondsOf({ range }: RangeAggregation): number {
  return Number(range.intervalNanoseconds) / 1e9;
}

function perSecond(of: MetricTree<Leaf>, expr: RangeAggregation): MetricTree<Leaf> {
  const { span } = expr;
  const right = { kind: 'literal', value: secondsOf(expr), span } as const;
  const operation = { op: '/', returnBool: false, matching: undefined } as const;
  const node: BinaryExpr = { kind: 'binary', ...operation, left: expr, right, span };
  return { kind: 'binary', node, left: of, right };
}

/** The aggregation with its range replaced. */
function withRange(node: VectorAggregation, range: RangeAggregation): VectorAggregation {
  return { ...node, expr: replaced(node.expr, range) };
}

function replaced(node: MetricExpr, range: RangeAggregation): MetricExpr {
  return node.kind === 'label-replace' ? { ...node, expr: replaced(node.expr, range) } : range;
}

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
      if (pushed !== undefined && node.expr.kind === 'range-aggregation')
        return { kind: 'leaf', leaf: leafOf(node.expr, pushed, undefined, isRoot) };
      if (divided.averages.has(node)) return averageTree(node, divided);
      return { kind: 'aggregate', node, of: treeOf(node.expr, node, false, divided) };
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

/** The tree of an average that Loki splits. The sum of rates is the sum of their amounts, divided by the seconds once. */
function averageTree(node: VectorAggregation, divided: Divided): MetricTree<Leaf> {
  const { expr } = node;
  const isCounted = pushedGrouping({ ...node, op: bySum.op }) !== undefined;
  const op =
    isCounted && expr.kind === 'range-aggregation' ? rangeFunctions[expr.op].perSecondOf?.(expr) : undefined;
  if (expr.kind !== 'range-aggregation' || op === undefined)
    return { kind: 'aggregate', node, of: treeOf(expr, node, false, divided), dividedBy: 1 };
  const of = treeOf({ ...expr, op }, node, false, divided);
  return { kind: 'aggregate', node, of, dividedBy: secondsOf(expr) };
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
