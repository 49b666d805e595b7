import { apiError } from '../../base/errors/table.js';
import { LabelSet } from '../../base/label-set.js';
import { labelsBytes, seriesBytes, seriesRowBytes } from '../../base/memory/byte-lru.js';
import type { MetricExpr } from '../ast.js';
import { vectorFunctions } from '../functions/vector/index.js';
import { isSetOp } from '../fold.js';
import { visit } from '../walk.js';
import { type Folding, foldSeries, chooseSeries, sortSeries } from './aggregate.js';
import { BinaryBudget } from './binary-budget.js';
import { type Columns, firstMs, type Grid, gridColumns } from './windows.js';
import { labelReplacer } from './label-replace.js';
import {
  type Combine,
  combineOf,
  type ValueOp,
  setOperation,
  type Breach,
  joinedBreach,
  vectorBinary,
} from './vector-binary.js';
import { atPace, eachAtPace, Pacer } from '../../base/pace/steps.js';
import { planLeaves } from './plan-leaves.js';
import { cappedRows, metricResult } from './result.js';
import { sumState } from './states.js';
import {
  emptyRow,
  type Leaf,
  type LeafSource,
  type MetricLimits,
  type MetricResult,
  type MetricTree,
  type PlannedMetric,
  type Point,
  type SeriesRow,
  type SeriesTable,
} from './work.js';
import { formatFloatPlain, formatSeconds } from '../../base/time/index.js';

/**
 * Evaluates a metric query as Loki does, reading logs through the source of leaves.
 * @throws ApiError with Loki's text: series limits, errors of entries, invalid matching; the source's own errors
 */
export async function evaluateMetric(
  expr: MetricExpr,
  grid: Grid,
  source: LeafSource,
  limits: MetricLimits,
  signal: AbortSignal,
): Promise<MetricResult> {
  const { kind } = grid;
  return evaluatePlanned(planLeaves(expr, { ...limits, kind }), grid, source, limits, signal);
}

/** As `evaluateMetric`, for an expression whose leaves are planned; the source receives the planned leaves. */
export async function evaluatePlanned<Planned extends Leaf>(
  { expr, tree }: PlannedMetric<Planned>,
  grid: Grid,
  source: LeafSource<Planned>,
  limits: MetricLimits,
  signal: AbortSignal,
): Promise<MetricResult> {
  const columns = gridColumns(grid);
  if (expr.kind === 'literal' && columns.kind === 'instant') {
    return { kind: 'scalar', point: { timestampMs: firstMs(columns), value: expr.value }, warnings: [] };
  }
  const evaluation = new Evaluation({ expr, tree }, columns, source, limits, signal);
  const rows = await evaluation.run(tree);
  const breach = evaluation.breachOf(tree);
  if (breach !== undefined) throw breach.error;
  const pacer = new Pacer(signal);
  const order = { expr, isSorted: sortsItself(expr), isCut: evaluation.isCut };
  const collected = await evaluation.collect(rows);
  const result = await metricResult(collected, columns, order, limits, pacer);
  if (await isOverBinary(expr, result, limits, pacer)) throw apiError('binaryEncoded', {});
  return result;
}

/** True if the results of binary operations exceed their limits. */
export async function isOverBinary(
  expr: MetricExpr,
  result: MetricResult,
  { binary }: MetricLimits,
  pacer: Pacer,
): Promise<boolean> {
  return hasBinary(expr) && (await isEncodedOver(result, binary.maxEncodedBytes, pacer));
}

/** Number of leaves that one query reads in parallel: each uses a backend connection, of which there are few. */
const lanes = 4;

type Branch<Planned, Kind> = Extract<MetricTree<Planned>, { readonly kind: Kind }>;

class Evaluation<Planned extends Leaf> {
  /** True when a source left series out. */
  isCut = false;
  readonly #root: MetricTree<Planned>;
  readonly #columns: Columns;
  readonly #source: LeafSource<Planned>;
  readonly #limits: MetricLimits;
  readonly #signal: AbortSignal;
  readonly #pacer: Pacer;
  readonly #budget: BinaryBudget;
  /** Errors of binary operations. */
  readonly #breaches = new Map<MetricTree<Planned>, Breach>();
  readonly #stop = new AbortController();
  #failure: { readonly reason: unknown } | undefined;
  /** The last leaf queued in each lane. */
  readonly #lanes: Promise<unknown>[] = Array.from({ length: lanes }, () => Promise.resolve());
  #nextLane = 0;

  constructor(
    { expr, tree }: PlannedMetric<Planned>,
    columns: Columns,
    source: LeafSource<Planned>,
    limits: MetricLimits,
    signal: AbortSignal,
  ) {
    this.#root = tree;
    this.#columns = columns;
    this.#source = source;
    this.#limits = limits;
    this.#signal = AbortSignal.any([signal, this.#stop.signal]);
    this.#pacer = new Pacer(this.#signal);
    this.#budget = new BinaryBudget(limits.binary);
    this.#budget.check(expr);
  }

  /** The rows of an expression, which can be read once. */
  async run(tree: MetricTree<Planned>): Promise<Iterable<SeriesRow>> {
    switch (tree.kind) {
      case 'leaf':
        return this.#leaf(tree.leaf);
      case 'aggregate':
        return this.#aggregate(tree);
      case 'binary':
        return this.#binary(tree);
      case 'concat':
        return this.#concat(tree.parts);
      case 'label-replace':
        return mapLabels(await this.run(tree.of), labelReplacer(tree.node));
      case 'vector':
      case 'literal':
        return [this.#constant(tree.value)];
    }
  }

  /** The errors of an expression that has been run. */
  breachOf(tree: MetricTree<Planned>): Breach | undefined {
    switch (tree.kind) {
      case 'aggregate':
      case 'label-replace':
        return this.breachOf(tree.of);
      case 'binary':
        return joinedBreach([this.#breaches.get(tree), this.breachOf(tree.left), this.breachOf(tree.right)]);
      case 'concat':
        return joinedBreach(tree.parts.map((part) => this.breachOf(part)));
      case 'leaf':
      case 'vector':
      case 'literal':
        return undefined;
    }
  }

  async #concat(parts: readonly MetricTree<Planned>[]): Promise<Iterable<SeriesRow>> {
    const all = await Promise.allSettled(parts.map((part) => this.#operand(part, () => undefined)));
    const rows: SeriesRow[] = [];
    for (const part of all) {
      if (part.status === 'rejected') throw this.#failure?.reason ?? part.reason;
      for (const row of part.value) rows.push(row);
    }
    return rows;
  }

  async #leaf(leaf: Planned): Promise<Iterable<SeriesRow>> {
    const [columns, limits, signal] = [this.#columns, this.#limits, this.#signal];
    const table = await this.#inLane(() => this.#source.series({ leaf, columns, limits, signal }));
    const { rows, isCut = false, isGrouped = false } = table;
    this.isCut ||= isCut;
    // Sources may return the parts of a group separately, and samples with errors are not grouped.
    const summed =
      leaf.pushed === undefined || isGrouped
        ? rows
        : await foldSeries(sumState, leaf.pushed, rows, columns, this.#folding(leaf.isRoot));
    return leaf.isCapped ? cappedRows(summed, columns, limits) : summed;
  }

  /** Reads after the previous leaf of the same lane. */
  #inLane(read: () => Promise<SeriesTable>): Promise<SeriesTable> {
    const lane = this.#nextLane++ % lanes;
    const table = (this.#lanes[lane] ?? Promise.resolve()).then(() => {
      this.#signal.throwIfAborted();
      return read();
    });
    this.#lanes[lane] = table.catch(() => undefined);
    return table;
  }

  /** Limits for folding: the groups of the outermost aggregation are the series of the answer. */
  #folding(isRoot: boolean): Folding {
    const { maxSeries, isPartial, memory } = this.#limits;
    return { memory, pacer: this.#pacer, maxGroups: isRoot && !isPartial ? maxSeries : 0 };
  }

  #constant(value: number): SeriesRow {
    const { count } = this.#columns;
    this.#limits.memory.charge(seriesBytes(count), 'the values of series');
    const row = emptyRow(LabelSet.empty, count);
    row.values.fill(value);
    row.present.fill(1);
    return row;
  }

  async #aggregate(tree: Branch<Planned, 'aggregate'>): Promise<Iterable<SeriesRow>> {
    const { op, parameter, grouping } = tree.node;
    const rows = await this.run(tree.of);
    const [columns, pacer] = [this.#columns, this.#pacer];
    const { memory } = this.#limits;
    const { evaluation } = vectorFunctions[op];
    switch (evaluation.kind) {
      case 'fold':
        return foldSeries(evaluation.state, grouping, rows, columns, {
          ...this.#folding(tree === this.#root),
          dividedBy: tree.dividedBy,
        });
      case 'choose': {
        const from = await this.collect(rows);
        return chooseSeries(evaluation.order, parameter ?? 1, grouping, from, columns, { memory, pacer });
      }
      case 'order':
        return atPace(sortSeries(evaluation.order, await this.collect(rows), columns), pacer);
    }
  }

  async #binary(tree: Branch<Planned, 'binary'>): Promise<Iterable<SeriesRow>> {
    const { node, left, right } = tree;
    const { op, returnBool, matching } = node;
    if (isSetOp(op)) {
      const [a, b] = await this.#operands(left, right);
      return setOperation(op, matching, a, b, this.#columns, {
        memory: this.#limits.memory,
        pacer: this.#pacer,
      });
    }
    if (right.kind === 'literal') return this.#withLiteral(op, returnBool, left, right.value, 'right');
    if (left.kind === 'literal') return this.#withLiteral(op, returnBool, right, left.value, 'left');
    const [a, b] = await this.#operands(left, right);
    const combine = combineOf(op, returnBool);
    const parts = { budget: this.#budget, memory: this.#limits.memory, pacer: this.#pacer };
    const { rows, breach } = await vectorBinary(combine, matching, a, b, this.#columns, parts);
    if (breach !== undefined) this.#breaches.set(tree, breach);
    return rows;
  }

  /** Evaluates both sides in parallel; when one fails, the other is cancelled and awaited. */
  async #operands(
    left: MetricTree<Planned>,
    right: MetricTree<Planned>,
  ): Promise<[readonly SeriesRow[], readonly SeriesRow[]]> {
    const [a, b] = await Promise.allSettled([this.#operand(left), this.#operand(right)]);
    if (a.status === 'rejected') throw this.#failure?.reason ?? a.reason;
    if (b.status === 'rejected') throw this.#failure?.reason ?? b.reason;
    return [a.value, b.value];
  }

  async #operand(
    tree: MetricTree<Planned>,
    count = (row: SeriesRow): void => this.#budget.operand(row),
  ): Promise<readonly SeriesRow[]> {
    try {
      return await this.collect(await this.run(tree), count);
    } catch (reason) {
      // The first failure cancels everything else, whose own failures are then meaningless.
      this.#failure ??= { reason };
      this.#stop.abort();
      throw reason;
    }
  }

  async #withLiteral(
    op: ValueOp,
    returnBool: boolean,
    tree: MetricTree<Planned>,
    literal: number,
    side: 'left' | 'right',
  ): Promise<readonly SeriesRow[]> {
    const rows = await this.#operand(tree);
    const combine = combineOf(op, returnBool, side === 'right' ? 'left' : 'right');
    const values: Combine = (value) => (side === 'right' ? combine(value, literal) : combine(literal, value));
    const changed: SeriesRow[] = [];
    await eachAtPace(rows, this.#pacer, (row) => {
      changed.push(this.#changeValues(row, values));
    });
    return changed;
  }

  #changeValues({ labels, values, present }: SeriesRow, change: Combine): SeriesRow {
    const { count } = this.#columns;
    this.#limits.memory.charge(seriesBytes(count), 'the values of series');
    const changed = emptyRow(labels, count);
    let samples = 0;
    for (let column = 0; column < count; column += 1) {
      const value = present[column] === 1 ? change(values[column] ?? 0, 0) : undefined;
      if (value === undefined) continue;
      changed.values[column] = value;
      changed.present[column] = 1;
      samples += 1;
    }
    this.#budget.samples(samples);
    return changed;
  }

  /** Keeps all rows and charges their memory as they arrive. */
  async collect(
    rows: Iterable<SeriesRow>,
    each: (row: SeriesRow) => void = () => undefined,
  ): Promise<readonly SeriesRow[]> {
    // Rows that already exist were charged by their maker.
    const memory = Array.isArray(rows) ? undefined : this.#limits.memory;
    const all: SeriesRow[] = [];
    await eachAtPace(rows, this.#pacer, (row) => {
      each(row);
      memory?.charge(seriesRowBytes(row) + labelsBytes(row.labels), 'the values of series');
      all.push(row);
    });
    return all;
  }
}

function* mapLabels(rows: Iterable<SeriesRow>, change: (labels: LabelSet) => LabelSet): Generator<SeriesRow> {
  for (const row of rows) yield { ...row, labels: change(row.labels) };
}

function hasBinary(expr: MetricExpr): boolean {
  let has = false;
  visit(expr, ({ kind }) => {
    has ||= kind === 'binary';
  });
  return has;
}

/** True when the query itself sorts an instant answer. */
function sortsItself(expr: MetricExpr): boolean {
  let sorts = false;
  visit(expr, (node) => {
    if (node.kind === 'vector-aggregation') sorts ||= vectorFunctions[node.op].evaluation.kind === 'order';
  });
  return sorts;
}

/** Upper bound of one encoded point: seconds with milliseconds, and a double written without an exponent. */
const longestPoint = 400;
const pointOverhead = '[,""],'.length;
const seriesOverhead = '{"metric":,"values":[]},'.length;

/** True when the JSON of a metric result is larger than `maxBytes`. */
async function isEncodedOver(result: MetricResult, maxBytes: number, pacer: Pacer): Promise<boolean> {
  if (result.kind === 'scalar') return false;
  const series: readonly { readonly labels: LabelSet; readonly points: readonly Point[] }[] =
    result.kind === 'matrix'
      ? result.series
      : result.samples.map(({ labels, point }) => ({ labels, points: [point] }));
  let bytes = 0;
  let most = 0;
  await eachAtPace(series, pacer, ({ labels, points }) => {
    bytes += seriesOverhead + Buffer.byteLength(labels.json);
    most += points.length * longestPoint;
  });
  if (bytes + most <= maxBytes) return false;
  for (const { points } of series) {
    for (const point of points) bytes += bytesOf(point);
    if (bytes > maxBytes) return true;
    const pause = pacer.due();
    if (pause !== undefined) await pause;
  }
  return false;
}

function bytesOf({ timestampMs, value }: Point): number {
  return pointOverhead + formatSeconds(timestampMs).length + formatFloatPlain(value).length;
}
