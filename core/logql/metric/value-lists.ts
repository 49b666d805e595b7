import { apiError } from '../../base/errors/table.js';
import type { MemoryAccount } from '../../base/memory/account.js';
import { ascending, sortInSteps } from './sort-in-steps.js';
import type { Steps } from '../../base/pace/steps.js';

const firstSize = 1024;

/** An array that can be transferred to another thread without a copy. */
export type NumberArray = Float64Array<ArrayBuffer> | Int32Array<ArrayBuffer>;

const isWhole = (array: NumberArray): array is Int32Array<ArrayBuffer> => array instanceof Int32Array;
export const isReal = (array: NumberArray): array is Float64Array<ArrayBuffer> =>
  array instanceof Float64Array;

/** Keeps the values of samples by cell, with their times when needed. */
export class ValueLists {
  #count = 0;
  #values = new Float64Array(firstSize);
  #offsets: Float64Array<ArrayBuffer> | undefined;
  /** The previous value of the same cell, or -1. */
  #before = new Int32Array(firstSize);
  #last = new Int32Array(firstSize).fill(-1);
  #sizes = new Int32Array(firstSize);
  readonly #max: number;
  readonly #memory: MemoryAccount;

  /** @param max maximum number of values; 0 means unlimited */
  constructor(max: number, keepsOffsets: boolean, memory: MemoryAccount) {
    this.#max = max;
    this.#memory = memory;
    if (keepsOffsets) this.#offsets = new Float64Array(firstSize);
  }

  /** @throws ApiError `metricValues` for one value too many */
  add(cell: number, value: number, offset: number): void {
    const index = this.#count;
    if (this.#max > 0 && index >= this.#max) throw apiError('metricValues', { limit: this.#max });
    if (index === this.#values.length) this.#growValues();
    if (cell >= this.#last.length) this.#growCells(cell);
    this.#count += 1;
    this.#values[index] = value;
    if (this.#offsets !== undefined) this.#offsets[index] = offset;
    this.#before[index] = this.#last[cell] ?? -1;
    this.#last[cell] = index;
    this.#sizes[cell] = (this.#sizes[cell] ?? 0) + 1;
  }

  /**
   * Adds several values of one time.
   * @throws ApiError `metricValues` for one value too many
   */
  addAll(cell: number, values: Float64Array, offset: number): void {
    const from = this.#count;
    const to = from + values.length;
    if (this.#max > 0 && to > this.#max) throw apiError('metricValues', { limit: this.#max });
    while (to > this.#values.length) this.#growValues();
    if (cell >= this.#last.length) this.#growCells(cell);
    this.#count = to;
    this.#values.set(values, from);
    this.#offsets?.fill(offset, from, to);
    const before = this.#before;
    before[from] = this.#last[cell] ?? -1;
    for (let index = from + 1; index < to; index += 1) before[index] = index - 1;
    this.#last[cell] = to - 1;
    this.#sizes[cell] = (this.#sizes[cell] ?? 0) + values.length;
  }

  sizeOf(cell: number): number {
    return this.#sizes[cell] ?? 0;
  }

  /** Copies the values of a cell to `into` from index `at`, in no particular order. */
  copyValues(cell: number, into: Float64Array, at: number): void {
    let next = at;
    for (let index = this.#last[cell] ?? -1; index >= 0; index = this.#before[index] ?? -1) {
      into[next] = this.#values[index] ?? 0;
      next += 1;
    }
  }

  /** The values of a cell in time order; for equal times in ascending order. */
  *inTime(cell: number, each: (value: number, offset: number) => void): Steps<void> {
    const indexes = new Int32Array(this.sizeOf(cell));
    let at = 0;
    for (let index = this.#last[cell] ?? -1; index >= 0; index = this.#before[index] ?? -1) {
      indexes[at] = index;
      at += 1;
    }
    const [values, offsets] = [this.#values, this.#offsets ?? this.#values];
    const order = (a: number, b: number): number =>
      (offsets[a] ?? 0) - (offsets[b] ?? 0) || ascending(values[a] ?? 0, values[b] ?? 0);
    for (const index of yield* sortInSteps(indexes, new Int32Array(at), order))
      each(values[index] ?? 0, offsets[index] ?? 0);
  }

  /** The arrays that hold all state, for lists in another thread. */
  pack(): readonly NumberArray[] {
    const offsets = this.#offsets === undefined ? [] : [this.#offsets];
    return [this.#before, this.#last, this.#sizes, this.#values, ...offsets];
  }

  /** Loads the arrays of other lists of the same kind; afterwards nothing can be added. */
  load(arrays: readonly NumberArray[]): void {
    const [before = this.#before, last = this.#last, sizes = this.#sizes] = arrays.filter(isWhole);
    const [values = this.#values, offsets] = arrays.filter(isReal);
    this.#before = before;
    this.#last = last;
    this.#sizes = sizes;
    this.#values = values;
    this.#offsets = offsets;
  }

  #growValues(): void {
    const size = this.#values.length * 2;
    // Releases the old arrays, which were half as large.
    this.#memory.charge((size / 2) * (this.#offsets === undefined ? 12 : 20), 'samples by series and time');
    const [values, before] = [new Float64Array(size), new Int32Array(size)];
    values.set(this.#values);
    before.set(this.#before);
    this.#values = values;
    this.#before = before;
    if (this.#offsets === undefined) return;
    const offsets = new Float64Array(size);
    offsets.set(this.#offsets);
    this.#offsets = offsets;
  }

  #growCells(cell: number): void {
    const size = Math.max(this.#last.length * 2, cell + 1);
    this.#memory.charge((size - this.#last.length) * 8, 'samples by series and time');
    const [last, sizes] = [new Int32Array(size).fill(-1), new Int32Array(size)];
    last.set(this.#last);
    sizes.set(this.#sizes);
    this.#last = last;
    this.#sizes = sizes;
  }
}
