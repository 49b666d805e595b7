import type { LabelSet } from '../../labels/label-set.js';
import type { Grouping, LogRange, RangeAggregation } from '../ast.js';
import { Cells } from './cells.js';
import type { Columns } from './columns.js';
import { counterState } from './counter-rate.js';
import { groupLabels } from './grouping.js';
import { deviationState, meanState, varianceState } from './moments.js';
import { quantileRow } from './quantile-row.js';
import { SeriesIndex } from './series-index.js';
import { Slider, type ColumnValues, type SeriesCells } from './slide.js';
import {
  countState,
  firstState,
  lastState,
  maxState,
  minState,
  perSecond,
  sumState,
  type StateKind,
} from './states.js';
import type { MetricLimits, SeriesRow } from './types.js';
import { ValueLists } from './value-lists.js';
import { Windows } from './windows.js';

export type EngineLimits = Pick<MetricLimits, 'maxCells' | 'maxValues'>;

export interface EngineOptions {
  /** What rows need of the labels of their series (see Leaf). */
  readonly folded?: Grouping | undefined;
  /** Series beyond so many are left out; 0 is no bound. */
  readonly maxSeries?: number;
}

/**
 * Computes a range function over the windows `(t - range, t]` of all columns, offset by what the query says. Samples may come in
 * any order; what is kept is a state for each series and bucket of time, or every value where the function needs that.
 */
export class RangeEngine {
  readonly windows: Windows;
  readonly #work: Work;
  readonly #series: SeriesIndex;
  readonly #cells: Cells;

  constructor(
    { op, parameter, range }: RangeAggregation,
    columns: Columns,
    limits: EngineLimits,
    { folded, maxSeries = 0 }: EngineOptions = {},
  ) {
    this.#series = new SeriesIndex(maxSeries, folded === undefined ? undefined : groupLabels(folded));
    this.windows = new Windows(columns, range);
    this.#cells = new Cells(limits.maxCells);
    this.#work = workOf(op, parameter ?? 0, range, this.windows, limits);
  }

  /** Series that have samples so far. */
  get seriesCount(): number {
    return this.#series.sets.length;
  }

  /** Whether series were left out. */
  get isCut(): boolean {
    return this.#series.isFull;
  }

  /** Whether a sample of this time is in any window. */
  isInWindow(timestampNs: bigint): boolean {
    return this.windows.bucketOf(timestampNs) >= 0;
  }

  /**
   * Takes a sample in; one outside of all windows is let go.
   * @throws ApiError `metricCells` or `metricValues` beyond the limits
   */
  add(labels: LabelSet, timestampNs: bigint, value: number): void {
    const bucket = this.windows.bucketOf(timestampNs);
    if (bucket < 0) return;
    const series = this.#series.of(labels);
    if (series < 0) return;
    const cell = this.#cells.of(series, bucket);
    this.#work.add(cell, value, this.windows.offsetNs);
  }

  /** The series, made one by one as they are read. */
  *rows(): Generator<SeriesRow> {
    const { sets } = this.#series;
    const { columns } = this.windows;
    const { cells, ends } = this.#cells.bySeries(sets.length);
    let from = 0;
    for (const [series, labels] of sets.entries()) {
      const to = ends[series] ?? from;
      const row = { labels, values: new Float64Array(columns), present: new Uint8Array(columns) };
      this.#work.finish({ cells, from, to, buckets: this.#cells.buckets }, row);
      from = to;
      yield row;
    }
  }
}

/** What one function keeps of samples. */
interface Work {
  add(cell: number, value: number, offset: number): void;
  finish(series: SeriesCells, out: ColumnValues): void;
}

function workOf(
  op: RangeAggregation['op'],
  parameter: number,
  range: LogRange,
  windows: Windows,
  { maxValues }: EngineLimits,
): Work {
  switch (op) {
    case 'quantile_over_time':
      return quantileWork(parameter, windows, maxValues);
    case 'rate_counter':
      return counterWork(windows, maxValues);
    case 'count_over_time':
    case 'rate':
    case 'bytes_over_time':
    case 'bytes_rate':
    case 'sum_over_time':
    case 'avg_over_time':
    case 'min_over_time':
    case 'max_over_time':
    case 'stdvar_over_time':
    case 'stddev_over_time':
    case 'first_over_time':
    case 'last_over_time':
    case 'absent_over_time':
      return stateWork(stateOf(op, range), windows);
  }
}

type StateOp = Exclude<RangeAggregation['op'], 'quantile_over_time' | 'rate_counter'>;

function stateOf(op: StateOp, range: LogRange): StateKind {
  switch (op) {
    case 'count_over_time':
    case 'absent_over_time':
      return countState;
    case 'rate':
      return perSecond(range.unwrap === undefined ? countState : sumState);
    case 'bytes_over_time':
    case 'sum_over_time':
      return sumState;
    case 'bytes_rate':
      return perSecond(sumState);
    case 'avg_over_time':
      return meanState;
    case 'min_over_time':
      return minState;
    case 'max_over_time':
      return maxState;
    case 'stdvar_over_time':
      return varianceState;
    case 'stddev_over_time':
      return deviationState;
    case 'first_over_time':
      return firstState;
    case 'last_over_time':
      return lastState;
  }
}

function stateWork(kind: StateKind, windows: Windows): Work {
  const { width } = kind;
  const slider = new Slider(kind, windows);
  let states = new Float64Array(256 * width);
  return {
    add(cell, value, offset) {
      const at = cell * width;
      if (at >= states.length) {
        const larger = new Float64Array(states.length * 2);
        larger.set(states);
        states = larger;
      }
      kind.add(states, at, value, offset);
    },
    finish: (series, out) => slider.slide(series, states, out),
  };
}

function quantileWork(phi: number, windows: Windows, maxValues: number): Work {
  const lists = new ValueLists(maxValues, false);
  return {
    add: (cell, value) => lists.add(cell, value, 0),
    finish: (series, out) => quantileRow(phi, series, lists, windows, out),
  };
}

/** A counter's falls show only in the order of time, so the samples of a bucket wait until all are there. */
function counterWork(windows: Windows, maxValues: number): Work {
  const lists = new ValueLists(maxValues, true);
  const slider = new Slider(counterState, windows);
  const { width } = counterState;
  return {
    add: (cell, value, offset) => lists.add(cell, value, offset),
    finish({ cells, from, to, buckets }, out) {
      const count = to - from;
      const states = new Float64Array(count * width);
      const own = new Int32Array(count).map((_zero, index) => index);
      const ownBuckets = own.map((index) => buckets[cells[from + index] ?? 0] ?? 0);
      for (let index = 0; index < count; index += 1) {
        const at = index * width;
        lists.inTime(cells[from + index] ?? 0, (value, offset) =>
          counterState.add(states, at, value, offset),
        );
      }
      slider.slide({ cells: own, from: 0, to: count, buckets: ownBuckets }, states, out);
    },
  };
}
