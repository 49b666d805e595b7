import type { MemoryAccount } from '../../base/memory/account.js';
import type { TimeRange } from '../../base/time/range.js';
import type { LogRange } from '../ast.js';
import type { StateKind } from './states.js';

const maxExactNs = 2 ** 53;
const nsPerMs = 1_000_000;
const nanosPerMs = 1_000_000n;

/**
 * Splits time into buckets such that the window `(t - range, t]` of every column consists of whole buckets: the same number for each,
 * starting a fixed number of buckets after the previous window.
 *
 * Every step is one bucket, or two if the range is not a multiple of the step: then the windows' left edges lie inside steps. The time
 * between the last left edge and the first column is in all windows, and is one bucket however long it is.
 */
export class RangeWindows {
  readonly columns: number;
  /** The number of buckets; 0 when no window contains any time. */
  readonly buckets: number;
  /** Buckets per window. */
  readonly width: number;
  /** The first bucket of the first window. */
  readonly first: number;
  /** Number of buckets by which the next window starts later: 1 or 2. */
  readonly stride: number;
  /** The length of the range in seconds. */
  readonly rangeSeconds: number;
  /** All buckets together cover `(startNs, endNs]`; offsets count from startNs. */
  readonly startNs: bigint;
  readonly endNs: bigint;
  /** Offset from startNs of the sample of the last `bucketOf`, in nanoseconds (exact up to 104 days). */
  offsetNs = 0;

  readonly #isExact: boolean;
  readonly #stepNs: number;
  readonly #spanNs: number;
  /** Offset of the second bucket of a step from the step's start. */
  readonly #cutNs: number;
  readonly #coreFirst: number;
  readonly #coreExtra: number;

  constructor(columns: Columns, { intervalNanoseconds, offsetNanoseconds }: LogRange) {
    const rangeMs = Number(intervalNanoseconds / 1_000_000n);
    const stepMs = columns.stepMs === 0 ? Math.max(rangeMs, 1) : columns.stepMs;
    const whole = Math.floor(rangeMs / stepMs);
    const restMs = rangeMs - whole * stepMs;
    const hasRest = restMs > 0;
    const lead = whole + (hasRest ? 1 : 0);
    const extra = Math.max(whole - columns.count, 0);
    this.columns = columns.count;
    this.stride = hasRest ? 2 : 1;
    this.first = hasRest ? 1 : 0;
    this.width = (whole - extra) * this.stride + (hasRest ? 1 : 0);
    this.buckets = rangeMs === 0 ? 0 : Math.max(columns.count + lead - 1 - extra, 0) * this.stride;
    this.rangeSeconds = rangeMs / 1000;
    const steps = BigInt(Math.max(columns.count - 1, 0));
    this.startNs = columns.firstNs - offsetNanoseconds - BigInt(lead * stepMs) * 1_000_000n;
    this.endNs = columns.firstNs - offsetNanoseconds + steps * BigInt(stepMs) * 1_000_000n;
    this.#stepNs = stepMs * nsPerMs;
    this.#spanNs = Number(this.endNs - this.startNs);
    this.#isExact = this.#spanNs < maxExactNs;
    this.#cutNs = (stepMs - restMs) * nsPerMs;
    this.#coreFirst = columns.count - 1 + lead - whole;
    this.#coreExtra = extra;
  }

  /** The range of relevant samples. */
  get range(): TimeRange {
    const cut = this.stride === 2 ? BigInt(this.#cutNs / nsPerMs) * 1_000_000n : 0n;
    return { startNs: this.startNs + cut + 1n, endNs: this.endNs + 1n };
  }

  /** Offset from startNs of the end of a column's window, in nanoseconds. */
  endOf(column: number): number {
    return this.#spanNs - (this.columns - 1 - column) * this.#stepNs;
  }

  /** The bucket of a time, or -1 when it is in no window. Sets `offsetNs`. */
  bucketOf(timestampNs: bigint): number {
    return this.#isExact ? this.#bucketOfNumber(timestampNs) : this.#bucketOfBigint(timestampNs);
  }

  #bucketOfNumber(timestampNs: bigint): number {
    // asIntN keeps the difference in a machine word.
    const offset = Number(BigInt.asIntN(64, timestampNs - this.startNs));
    if (offset <= 0 || offset > this.#spanNs) return -1;
    this.offsetNs = offset;
    let step = Math.floor(offset / this.#stepNs);
    let within = offset - step * this.#stepNs;
    // A quotient just below an integer may have been rounded up to it, and a step ends where the next one starts.
    if (within <= 0) {
      step -= 1;
      within += this.#stepNs;
    }
    return this.#bucketIn(step, within);
  }

  #bucketOfBigint(timestampNs: bigint): number {
    if (timestampNs <= this.startNs || timestampNs > this.endNs) return -1;
    const offset = timestampNs - this.startNs;
    this.offsetNs = Number(offset);
    const stepNs = BigInt(this.#stepNs);
    const step = (offset - 1n) / stepNs;
    return this.#bucketIn(Number(step), Number(offset - step * stepNs));
  }

  #bucketIn(step: number, within: number): number {
    if (this.buckets === 0) return -1;
    if (step > this.#coreFirst + this.#coreExtra) return this.#pieceOf(step - this.#coreExtra, within);
    return step < this.#coreFirst || this.#coreExtra === 0
      ? this.#pieceOf(step, within)
      : this.#coreFirst * this.stride;
  }

  #pieceOf(step: number, within: number): number {
    if (this.stride === 1) return step;
    const bucket = within > this.#cutNs ? 2 * step + 1 : 2 * step;
    // Before the first left edge, and between windows that do not touch, time belongs to no window.
    return bucket < this.first || (this.width === 1 && bucket % 2 === 0) ? -1 : bucket;
  }

  /** The first column whose window contains a bucket. */
  firstColumnOf(bucket: number): number {
    return Math.max(Math.ceil((bucket - this.first - this.width + 1) / this.stride), 0);
  }

  /** The last column whose window contains a bucket. */
  lastColumnOf(bucket: number): number {
    return Math.min(Math.floor((bucket - this.first) / this.stride), this.columns - 1);
  }

  /** The first bucket of a column's window. */
  firstBucketOf(column: number): number {
    return this.first + column * this.stride;
  }
}

/** The times of a query: a range, widened to multiples of its step, or one instant. */
export type Grid =
  | { readonly kind: 'range'; readonly startMs: number; readonly endMs: number; readonly stepMs: number }
  | { readonly kind: 'instant'; readonly timeNs: bigint };

/** The times at which a query is evaluated: `count` of them, `stepMs` apart. */
export interface Columns {
  readonly kind: Grid['kind'];
  readonly count: number;
  /** The first time in nanoseconds: the windows of an instant query end exactly at the requested time. */
  readonly firstNs: bigint;
  /** 0 for an instant. */
  readonly stepMs: number;
}

/** The grid for a request's range and step, both in nanoseconds; a step is at least a millisecond. */
export function gridOf(range: TimeRange, stepNs: bigint): Grid {
  const stepMs = stepNs < nanosPerMs ? 1n : stepNs / nanosPerMs;
  return {
    kind: 'range',
    startMs: Number(range.startNs / nanosPerMs),
    endMs: Number((range.endNs + nanosPerMs - 1n) / nanosPerMs),
    stepMs: Number(stepMs),
  };
}

/** The parts of a request for a metric query that determine when it is evaluated. */
type TimedRequest =
  | { readonly op: 'query'; readonly timeNs: bigint }
  | { readonly op: 'query_range'; readonly range: TimeRange; readonly stepNs: bigint };

/** The grid of a request. */
export function gridFor(request: TimedRequest): Grid {
  return request.op === 'query'
    ? { kind: 'instant', timeNs: request.timeNs }
    : gridOf(request.range, request.stepNs);
}

/**
 * The columns of a grid, in whole milliseconds. A range starts at the multiple of the step at or before its start, and ends at or after its
 * end.
 */
export function gridColumns(grid: Grid): Columns {
  if (grid.kind === 'instant') return { kind: 'instant', count: 1, firstNs: grid.timeNs, stepMs: 0 };
  const { startMs, endMs, stepMs } = grid;
  const first = Math.floor(startMs / stepMs);
  const last = Math.ceil(endMs / stepMs);
  return {
    kind: 'range',
    count: Math.max(last - first + 1, 0),
    firstNs: BigInt(first * stepMs) * nanosPerMs,
    stepMs,
  };
}

/** The time of the first column as shown in answers. */
export function firstMs({ firstNs }: Columns): number {
  return Number(firstNs / nanosPerMs);
}

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
