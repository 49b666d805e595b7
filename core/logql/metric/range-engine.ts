import type { LabelSet } from '../../base/labels/label-set.js';
import type { Grouping, RangeAggregation } from '../ast.js';
import { rangeFunctions } from '../functions/range/index.js';
import { Cells, type CellsOfSeries } from './cells.js';
import type { Columns } from './columns.js';
import { groupLabels, withoutEmpty } from './grouping.js';
import type { Pacer } from '../../base/pace/pacer.js';
import type { MemoryAccount } from '../../base/memory/account.js';
import { seriesBytes } from '../../base/memory/sizes.js';
import {
  packSeries,
  SeriesIndex,
  unpackSeries,
  type PackedSeries,
  type ShownSeries,
} from './series-index.js';
import { atPace, doAll } from '../../base/pace/steps.js';
import type { ColumnValues, SeriesCells } from './slide.js';
import { isDividedAverage } from './shards.js';
import { averageState, perSecond, tallyState, type StateKind } from './states.js';
import type { MetricLimits, SeriesRow } from './types.js';
import type { NumberArray } from './value-lists.js';
import { Windows } from './windows.js';
import { stateWork, type MakeWork, type Work } from './work.js';

export type EngineLimits = Pick<MetricLimits, 'maxCells' | 'maxValues' | 'memory'>;

export interface EngineOptions {
  /** Which labels of their series rows need (see Leaf). */
  readonly folded?: Grouping | undefined;
  /** Further series are left out; 0 means unlimited. */
  readonly maxSeries?: number;
  /** Whether a label with an empty value is kept (see keepsEmptyLabels); otherwise it only distinguishes series. */
  readonly keepsEmpty?: boolean;
  /** True when values are already counts of samples or bytes instead of samples (`count_over_time` and similar). */
  readonly isTallied?: boolean;
}

/** What an engine has counted, for an engine of the same aggregation in another thread. */
export interface PackedEngine {
  readonly series: PackedSeries;
  readonly cells: CellsOfSeries;
  readonly work: readonly NumberArray[];
  /** The rows of expensive series. */
  readonly ready: readonly (readonly [series: number, row: ColumnValues])[];
}

/** Everything of a packed engine that is handed over instead of copied. */
export function transfersOf({ cells, work, ready }: PackedEngine): readonly ArrayBuffer[] {
  const rows = ready.flatMap(([, { values, present }]) => [values, present]);
  return [cells.cells, cells.ends, cells.buckets, ...work, ...rows].map(({ buffer }) => buffer);
}

/** Sorting this many values of one series takes some milliseconds. */
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
 * order. Keeps one state per series and bucket of time, or every value when the function needs that.
 */
export class RangeEngine {
  readonly windows: Windows;
  readonly #work: Work;
  readonly #series: SeriesIndex;
  /** The series that rows are made of: its own, or those of the engine that it has taken over. */
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
    this.windows = new Windows(columns, node.range);
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

  /** Whether all series differ in the labels shown. */
  get isDistinct(): boolean {
    return this.#shown.shownCount === this.#shown.sets.length;
  }

  /** Whether series were left out. */
  get isCut(): boolean {
    return this.#shown.isFull;
  }

  /** Whether a sample at this time is in any window. */
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

  /** Adds several samples of one series and one time, as `add`. */
  addAll(labels: LabelSet, timestampNs: bigint, values: Float64Array): void {
    const cell = values.length === 0 ? undefined : this.#cellOf(labels, timestampNs);
    if (cell === undefined) return;
    this.#work.addAll(cell, values, this.windows.offsetNs);
  }

  /** Where the samples of a series at this time are kept; undefined outside of all windows, and for a series that is left out. */
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
      const row = this.#emptyRow();
      await atPace(this.#work.finish(cells, row), pacer);
      this.#ready.set(series, row);
    }
  }

  /** Gives away what it has counted. Call after `prepare`; afterwards nothing is left here. */
  pack(): PackedEngine {
    const cells = this.#cellsOf ?? doAll(this.#cells.bySeries(this.#series.sets.length));
    return { series: packSeries(this.#shown), cells, work: this.#work.pack(), ready: [...this.#ready] };
  }

  /** Takes over what another engine of the same aggregation has counted, in place of `add` and `prepare`. */
  async load({ series, cells, work, ready }: PackedEngine, pacer: Pacer): Promise<void> {
    this.#shown = await atPace(unpackSeries(series), pacer);
    this.#cellsOf = cells;
    this.#work.load(work);
    for (const [number, row] of ready) this.#ready.set(number, row);
  }

  /** The series, made one at a time while they are read. */
  *rows(): Generator<SeriesRow> {
    const cellsOf = this.#cellsOf ?? doAll(this.#cells.bySeries(this.#series.sets.length));
    for (const { series, labels, cells } of this.#cellsOfSeries(cellsOf)) {
      const row = this.#ready.get(series) ?? this.#emptyRow();
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

  #emptyRow(): ColumnValues {
    const { columns } = this.windows;
    return { values: new Float64Array(columns), present: new Uint8Array(columns) };
  }
}

function workOf(node: RangeAggregation): StateKind | MakeWork {
  return isDividedAverage(node) ? averageState : rangeFunctions[node.op].work;
}

/** The state of what is counted already. */
function tallyOf({ op }: RangeAggregation): StateKind {
  return rangeFunctions[op].perSecondOf === undefined ? tallyState : tallyPerSecond;
}
