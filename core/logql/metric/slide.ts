import type { MemoryAccount } from '../../base/memory/account.js';
import type { StateKind } from './states.js';
import type { RangeWindows } from './windows.js';

/** The cells of one series: their numbers, and the bucket of each cell number. */
export interface SeriesCells {
  readonly cells: Int32Array;
  readonly from: number;
  readonly to: number;
  readonly buckets: Int32Array;
}

/** The function's value for every column; columns without samples are left untouched. */
export interface ColumnValues {
  readonly values: Float64Array<ArrayBuffer>;
  readonly present: Uint8Array<ArrayBuffer>;
}

/**
 * Merges states of buckets into states of windows, series by series. Windows overlap, so merging each from scratch would take range over
 * step merges per column. Series with few cells are merged into the columns they reach. For the others, blocks of a window's width are
 * merged from both of their ends, so that a window is the end of one block and the start of the next (van Herk's method): three merges per
 * bucket, whatever the range. Nothing is ever subtracted from a sum, so no precision is lost.
 */
export class Slider {
  readonly #kind: StateKind;
  readonly #windows: RangeWindows;
  readonly #columns: Float64Array;
  readonly #later: Float64Array;
  #forward: Float64Array | undefined;
  #backward: Float64Array | undefined;
  readonly #memory: MemoryAccount;

  constructor(kind: StateKind, windows: RangeWindows, memory: MemoryAccount) {
    this.#memory = memory;
    memory.charge(windows.columns * kind.width * 8, 'the values of series');
    this.#kind = kind;
    this.#windows = windows;
    this.#columns = new Float64Array(windows.columns * kind.width);
    this.#later = new Float64Array(kind.width);
  }

  /** Writes a series' values; `states` holds the states of its cells by cell number. */
  slide(series: SeriesCells, states: Float64Array, out: ColumnValues): void {
    const { columns, width, stride } = this.#windows;
    const reach = Math.ceil(width / stride);
    this.#columns.fill(0);
    if ((series.to - series.from) * reach <= 3 * columns * stride) this.#scatter(series, states);
    else this.#slideRuns(series, states);
    const state = this.#columns;
    for (let column = 0; column < columns; column += 1) {
      const at = column * this.#kind.width;
      if (state[at] === 0) continue;
      out.present[column] = 1;
      const { rangeSeconds } = this.#windows;
      out.values[column] = this.#kind.result(state, at, rangeSeconds, this.#windows.endOf(column));
    }
  }

  #scatter({ cells, from, to, buckets }: SeriesCells, states: Float64Array): void {
    const { width } = this.#kind;
    const windows = this.#windows;
    const sorted = cells.slice(from, to).sort((a, b) => (buckets[a] ?? 0) - (buckets[b] ?? 0));
    for (const cell of sorted) {
      const bucket = buckets[cell] ?? 0;
      const last = windows.lastColumnOf(bucket);
      for (let column = windows.firstColumnOf(bucket); column <= last; column += 1) {
        this.#mergeInto(this.#columns, column * width, states, cell * width);
      }
    }
  }

  #slideRuns({ cells, from, to, buckets }: SeriesCells, states: Float64Array): void {
    const { width } = this.#kind;
    const windows = this.#windows;
    const run = windows.width;
    const size = windows.buckets * width;
    if (this.#forward === undefined) this.#memory.charge(size * 16, 'the values of series');
    const forward = (this.#forward ??= new Float64Array(size)).fill(0);
    const backward = (this.#backward ??= new Float64Array(size));
    for (let index = from; index < to; index += 1) {
      const cell = cells[index] ?? 0;
      copyState(forward, (buckets[cell] ?? 0) * width, states, cell * width, width);
    }
    backward.set(forward);
    const origin = windows.first;
    for (let bucket = origin + 1; bucket < windows.buckets; bucket += 1) {
      if ((bucket - origin) % run === 0) continue;
      this.#extend(forward, bucket * width, (bucket - 1) * width);
    }
    for (let bucket = windows.buckets - 2; bucket >= origin; bucket -= 1) {
      if ((bucket + 1 - origin) % run === 0) continue;
      this.#mergeInto(backward, bucket * width, backward, (bucket + 1) * width);
    }
    for (let column = 0; column < windows.columns; column += 1) {
      const begin = windows.firstBucketOf(column);
      const end = begin + run - 1;
      const at = column * width;
      copyState(this.#columns, at, backward, begin * width, width);
      if ((begin - origin) % run !== 0) this.#mergeInto(this.#columns, at, forward, end * width);
    }
  }

  /** Merges an earlier state before the state at `at`. */
  #extend(state: Float64Array, at: number, before: number): void {
    const { width } = this.#kind;
    if (state[before] === 0) return;
    if (state[at] === 0) {
      copyState(state, at, state, before, width);
      return;
    }
    const later = this.#later;
    copyState(later, 0, state, at, width);
    copyState(state, at, state, before, width);
    this.#kind.merge(state, at, later, 0);
  }

  #mergeInto(state: Float64Array, at: number, other: Float64Array, from: number): void {
    if (other[from] === 0) return;
    if (state[at] === 0) copyState(state, at, other, from, this.#kind.width);
    else this.#kind.merge(state, at, other, from);
  }
}

function copyState(to: Float64Array, at: number, from: Float64Array, fromAt: number, width: number): void {
  for (let index = 0; index < width; index += 1) to[at + index] = from[fromAt + index] ?? 0;
}
