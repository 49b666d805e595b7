import { apiError } from '../../base/errors/table.js';
import type { Steps } from '../../base/pace/steps.js';
import type { MemoryAccount } from '../../base/memory/account.js';

const firstSlots = 1024;
/** Cells sorted per step. */
const stepCells = 50_000;

/** The cells ordered by series, and the end of each series' cells. */
export interface CellsOfSeries {
  readonly cells: Int32Array<ArrayBuffer>;
  readonly ends: Int32Array<ArrayBuffer>;
  /** The bucket of each cell. */
  readonly buckets: Int32Array<ArrayBuffer>;
}

/**
 * Assigns numbers to the pairs of a series and a bucket that have samples. Memory depends on the number of such pairs, not on the number of
 * series or buckets.
 */
export class Cells {
  count = 0;
  /** Series and bucket of each cell. */
  series = new Int32Array(firstSlots / 2);
  buckets = new Int32Array(firstSlots / 2);
  /** Hash table of cell numbers; 0 is free, n is cell n - 1. */
  #slots = new Int32Array(firstSlots);
  #mask = firstSlots - 1;
  readonly #max: number;
  readonly #memory: MemoryAccount;

  /** @param max the most cells; 0 means unlimited */
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
