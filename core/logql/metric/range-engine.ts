import { apiError } from '../../base/errors/table.js';
import { type LabelSet, withoutEmpty } from '../../base/label-set.js';
import type { MemoryAccount } from '../../base/memory/account.js';
import { seriesBytes } from '../../base/memory/byte-lru.js';
import { zeroBytes, zeroNumbers } from '../../base/memory/slab.js';
import { atPace, doAll, type Pacer, type Steps } from '../../base/pace/steps.js';
import type { Grouping, RangeAggregation } from '../ast.js';
import { rangeFunctions } from '../functions/range/index.js';
import { type Columns, type ColumnValues, RangeWindows, type SeriesCells } from './windows.js';
import {
  groupLabels,
  type PackedSeries,
  packSeries,
  SeriesIndex,
  type ShownSeries,
  unpackSeries,
} from './result.js';
import { isDividedAverage } from './shards.js';
import {
  averageState,
  type NumberArray,
  perSecond,
  type StateKind,
  type Summary,
  tallyState,
} from './states.js';
import { type MakeWork, type MetricLimits, type SeriesRow, stateWork, type Work } from './work.js';

export type EngineLimits = Pick<MetricLimits, 'maxCells' | 'maxValues' | 'memory'>;

export interface EngineOptions {
  /** The labels of their series that rows need (see Leaf). */
  readonly folded?: Grouping | undefined;
  /** Maximum number of series, beyond which further ones are left out; 0 means unlimited. */
  readonly maxSeries?: number;
  /** True when a label with an empty value is kept (see keepsEmptyLabels); otherwise it only distinguishes series. */
  readonly keepsEmpty?: boolean;
  /** True if values are already counts of samples or bytes (`count_over_time` and similar). */
  readonly isTallied?: boolean;
}

/** The state of an engine, for an engine of the same aggregation in another thread. */
export interface PackedEngine {
  readonly series: PackedSeries;
  readonly cells: CellsOfSeries;
  readonly work: readonly NumberArray[];
  /** The rows of expensive series. */
  readonly ready: readonly (readonly [series: number, row: ColumnValues])[];
}

/** Buffers of a packed engine that are transferred instead of copied. */
export function transfersOf({ cells, work, ready }: PackedEngine): readonly ArrayBuffer[] {
  const rows = ready.flatMap(([, { values, present }]) => [values, present]);
  return [cells.cells, cells.ends, cells.buckets, ...work, ...rows].map(({ buffer }) => buffer);
}

/** Number of values of one series whose sorting takes some milliseconds. */
const longValues = 10_000;

const tallyPerSecond = perSecond(tallyState);

/** Selects the labels of a series to show; undefined for all of them. */
function shownLabels(
  folded: Grouping | undefined,
  keepsEmpty: boolean,
): ((labels: LabelSet) => LabelSet) | undefined {
  const fold = folded === undefined ? undefined : groupLabels(folded);
  if (keepsEmpty) return fold;
  return fold === undefined ? withoutEmpty : (labels) => withoutEmpty(fold(labels));
}

/**
 * Computes a range function over the windows `(t - range, t]` of all columns, shifted by the query's offset. Samples may arrive in any
 * order. It keeps one state per series and time bucket, or every value if the function needs that.
 */
export class RangeEngine {
  readonly windows: RangeWindows;
  readonly #work: Work;
  readonly #series: SeriesIndex;
  /** The series of the rows: its own, or those loaded from another engine. */
  #shown: ShownSeries;
  readonly #cells: Cells;
  readonly #memory: MemoryAccount;
  /** Rows of expensive series, computed in advance by `prepare`. */
  readonly #ready = new Map<number, ColumnValues>();
  #cellsOf: CellsOfSeries | undefined;

  constructor(
    node: RangeAggregation,
    columns: Columns,
    limits: EngineLimits,
    { folded, maxSeries = 0, keepsEmpty = true, isTallied = false }: EngineOptions = {},
  ) {
    this.#series = new SeriesIndex(limits.memory, maxSeries, shownLabels(folded, keepsEmpty));
    this.#shown = this.#series;
    this.windows = new RangeWindows(columns, node.range);
    this.#cells = new Cells(limits.maxCells, limits.memory);
    this.#memory = limits.memory;
    const { maxValues, memory } = limits;
    const request = { node, windows: this.windows, maxValues, memory };
    const work = isTallied ? tallyOf(node) : workOf(node);
    this.#work = typeof work === 'function' ? work(request) : stateWork(work, request);
  }

  /** The number of series with samples so far, distinguished by the labels shown. */
  get seriesCount(): number {
    return this.#shown.shownCount;
  }

  /** True when all series differ in the labels shown. */
  get isDistinct(): boolean {
    return this.#shown.shownCount === this.#shown.sets.length;
  }

  /** True when series were left out. */
  get isCut(): boolean {
    return this.#shown.isFull;
  }

  /** True when a sample at this time is in any window. */
  isInWindow(timestampNs: bigint): boolean {
    return this.windows.bucketOf(timestampNs) >= 0;
  }

  /**
   * Adds a sample; one outside all windows is ignored.
   * @throws ApiError `metricCells` or `metricValues` beyond the limits
   */
  add(labels: LabelSet, timestampNs: bigint, value: number): void {
    const cell = this.#cellOf(labels, timestampNs);
    if (cell !== undefined) this.#work.add(cell, value, this.windows.offsetNs);
  }

  /** Adds several samples of one series and one time. */
  addAll(labels: LabelSet, timestampNs: bigint, values: Float64Array): void {
    const cell = values.length === 0 ? undefined : this.#cellOf(labels, timestampNs);
    if (cell === undefined) return;
    this.#work.addAll(cell, values, this.windows.offsetNs);
  }

  /** The statistic of several samples that `addSummary` takes; undefined if it must know all of them. */
  get summary(): Summary['of'] | undefined {
    return this.#work.summary?.of;
  }

  /** Adds several samples of one series and one time, of which only the engine's `summary` is known (see Summary). */
  addSummary(labels: LabelSet, timestampNs: bigint, value: number, count: number): void {
    const cell = this.#cellOf(labels, timestampNs);
    if (cell !== undefined) this.#work.summary?.add(cell, value, count);
  }

  /** The cell of a series at this time; undefined outside of all windows, and for a series that is left out. */
  #cellOf(labels: LabelSet, timestampNs: bigint): number | undefined {
    const bucket = this.windows.bucketOf(timestampNs);
    if (bucket < 0) return undefined;
    const series = this.#series.of(labels);
    return series < 0 ? undefined : this.#cells.of(series, bucket);
  }

  /** Call once after the last sample: computes expensive rows, which sort many values, with pauses. */
  async prepare(pacer: Pacer): Promise<void> {
    const cellsOf = await atPace(this.#cells.bySeries(this.#series.sets.length), pacer);
    this.#cellsOf = cellsOf;
    // States are sorted on arrival.
    if (!this.#work.keepsValues) return;
    for (const { series, cells } of this.#cellsOfSeries(cellsOf)) {
      const pause = pacer.due();
      if (pause !== undefined) await pause;
      if (this.#work.valuesOf(cells) < longValues) continue;
      this.#memory.charge(seriesBytes(this.windows.columns), 'the values of series');
      // These rows are transferred to other threads, so they have buffers of their own.
      const { columns } = this.windows;
      const row = { values: new Float64Array(columns), present: new Uint8Array(columns) };
      await atPace(this.#work.finish(cells, row), pacer);
      this.#ready.set(series, row);
    }
  }

  /** Moves the state out of this engine. Call it after `prepare`; afterwards the engine is empty. */
  pack(): PackedEngine {
    const cells = this.#cellsOf ?? doAll(this.#cells.bySeries(this.#series.sets.length));
    return { series: packSeries(this.#shown), cells, work: this.#work.pack(), ready: [...this.#ready] };
  }

  /** Loads the state of another engine of the same aggregation, in place of `add` and `prepare`. */
  async load({ series, cells, work, ready }: PackedEngine, pacer: Pacer): Promise<void> {
    this.#shown = await atPace(unpackSeries(series), pacer);
    this.#cellsOf = cells;
    this.#work.load(work);
    for (const [number, row] of ready) this.#ready.set(number, row);
  }

  /** The series, made one at a time while they are read. */
  *rows(): Generator<SeriesRow> {
    const cellsOf = this.#cellsOf ?? doAll(this.#cells.bySeries(this.#series.sets.length));
    const { columns } = this.windows;
    for (const { series, labels, cells } of this.#cellsOfSeries(cellsOf)) {
      const row = this.#ready.get(series) ?? { values: zeroNumbers(columns), present: zeroBytes(columns) };
      if (!this.#ready.delete(series)) doAll(this.#work.finish(cells, row));
      if (row.present.includes(1)) yield { labels, ...row };
    }
  }

  *#cellsOfSeries({ cells, ends, buckets }: CellsOfSeries): Generator<{
    readonly series: number;
    readonly labels: LabelSet;
    readonly cells: SeriesCells;
  }> {
    const { sets } = this.#shown;
    let from = 0;
    for (const [series, labels] of sets.entries()) {
      const to = ends[series] ?? from;
      yield { series, labels, cells: { cells, from, to, buckets } };
      from = to;
    }
  }
}

function workOf(node: RangeAggregation): StateKind | MakeWork {
  return isDividedAverage(node) ? averageState() : rangeFunctions[node.op].work;
}

/** The state for values that are already counts. */
function tallyOf({ op }: RangeAggregation): StateKind {
  return rangeFunctions[op].perSecondOf === undefined ? tallyState : tallyPerSecond;
}

const firstSlots = 1024;
/** Cells sorted per step. */
const stepCells = 50_000;

/** The cells ordered by series, and the end of each series' cells. */
interface CellsOfSeries {
  readonly cells: Int32Array<ArrayBuffer>;
  readonly ends: Int32Array<ArrayBuffer>;
  /** The bucket of each cell. */
  readonly buckets: Int32Array<ArrayBuffer>;
}

/**
 * Assigns numbers to the pairs of a series and a bucket that have samples. Memory depends on the number of such pairs, not on the number of
 * series or buckets.
 */
class Cells {
  count = 0;
  /** Series and bucket of each cell. */
  series = new Int32Array(firstSlots / 2);
  buckets = new Int32Array(firstSlots / 2);
  /** Hash table of cell numbers; 0 is free, n is cell n - 1. */
  #slots = new Int32Array(firstSlots);
  #mask = firstSlots - 1;
  readonly #max: number;
  readonly #memory: MemoryAccount;

  /** @param max maximum number of cells; 0 means unlimited */
  constructor(max: number, memory: MemoryAccount) {
    this.#max = max;
    this.#memory = memory;
  }

  /**
   * The cell of a series and a bucket; a new one gets the previous `count` as its number.
   * @throws ApiError `metricCells` for one cell too many
   */
  of(series: number, bucket: number): number {
    let at = hash(series, bucket) & this.#mask;
    for (;;) {
      const cell = (this.#slots[at] ?? 0) - 1;
      if (cell < 0) return this.#add(series, bucket, at);
      if (this.series[cell] === series && this.buckets[cell] === bucket) return cell;
      at = (at + 1) & this.#mask;
    }
  }

  /** The cells ordered by series. */
  *bySeries(seriesCount: number): Steps<CellsOfSeries> {
    this.#memory.charge((seriesCount + this.count) * 4, 'samples by series and time');
    const ends = new Int32Array(seriesCount);
    for (let cell = 0; cell < this.count; cell += 1) {
      const series = this.series[cell] ?? 0;
      ends[series] = (ends[series] ?? 0) + 1;
      if (cell % stepCells === 0) yield;
    }
    let sum = 0;
    for (let series = 0; series < seriesCount; series += 1) {
      const size = ends[series] ?? 0;
      ends[series] = sum;
      sum += size;
    }
    yield;
    const cells = new Int32Array(this.count);
    for (let cell = 0; cell < this.count; cell += 1) {
      const series = this.series[cell] ?? 0;
      const at = ends[series] ?? 0;
      cells[at] = cell;
      ends[series] = at + 1;
      if (cell % stepCells === 0) yield;
    }
    return { cells, ends, buckets: this.buckets };
  }

  #add(series: number, bucket: number, at: number): number {
    const cell = this.count;
    if (this.#max > 0 && cell >= this.#max) throw apiError('metricCells', {});
    if (cell === this.series.length) this.#grow();
    this.count += 1;
    this.series[cell] = series;
    this.buckets[cell] = bucket;
    if (this.count * 2 > this.#slots.length) this.#rehash();
    else this.#slots[at] = cell + 1;
    return cell;
  }

  #grow(): void {
    this.#memory.charge(this.series.byteLength * 2, 'samples by series and time');
    this.series = grown(this.series);
    this.buckets = grown(this.buckets);
  }

  #rehash(): void {
    this.#memory.charge(this.#slots.byteLength, 'samples by series and time');
    this.#slots = new Int32Array(this.#slots.length * 2);
    this.#mask = this.#slots.length - 1;
    for (let cell = 0; cell < this.count; cell += 1) {
      let at = hash(this.series[cell] ?? 0, this.buckets[cell] ?? 0) & this.#mask;
      while (this.#slots[at] !== 0) at = (at + 1) & this.#mask;
      this.#slots[at] = cell + 1;
    }
  }
}

function grown(array: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(array.length * 2);
  larger.set(array);
  return larger;
}

function hash(series: number, bucket: number): number {
  const mixed = Math.imul(series, 0x9e3779b1) ^ Math.imul(bucket, 0x85ebca6b);
  return Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d) >>> 4;
}
