import { hash } from 'node:crypto';
import type { LogRow } from '../../victoria/names/row-reader.js';

/**
 * Remembers the rows that a tail has seen, so that windows may overlap. Bounded: when it is full the oldest instants are forgotten
 * and everything before what is left counts as seen, so that no row is ever shown twice.
 */
export class RecentRows {
  readonly #maxRows: number;
  readonly #byTime = new Map<bigint, Set<string>>();
  #size = 0;
  #floorNs: bigint;

  /** Rows before `floorNs` are none of the tail's. */
  constructor(maxRows: number, floorNs: bigint) {
    this.#maxRows = maxRows;
    this.#floorNs = floorNs;
  }

  /** Rows before this instant count as seen: there is no use in reading them. */
  get floorNs(): bigint {
    return this.#floorNs;
  }

  get size(): number {
    return this.#size;
  }

  /** Takes a row in; false when it was seen before. */
  add({ timestampNs, stream, line }: Pick<LogRow, 'timestampNs' | 'stream' | 'line'>): boolean {
    if (timestampNs < this.#floorNs) return false;
    // The same identity as that of a range query: stream and line. A hash, because lines may be long.
    const key = hash('sha1', `${stream.labels.key}\n${line}`, 'binary');
    const atInstant = this.#byTime.get(timestampNs);
    if (atInstant === undefined) this.#byTime.set(timestampNs, new Set([key]));
    else if (atInstant.has(key)) return false;
    else atInstant.add(key);
    this.#size += 1;
    if (this.#size > this.#maxRows) this.#forgetOldest();
    return true;
  }

  /** Raises the floor. */
  forgetBefore(floorNs: bigint): void {
    if (floorNs <= this.#floorNs) return;
    this.#floorNs = floorNs;
    for (const [timestampNs, keys] of this.#byTime) {
      if (timestampNs >= floorNs) continue;
      this.#byTime.delete(timestampNs);
      this.#size -= keys.size;
    }
  }

  /** A quarter at once, so that the sorting is paid rarely. */
  #forgetOldest(): void {
    const wanted = Math.floor(this.#maxRows * 0.75);
    const instants = [...this.#byTime.keys()].sort((a, b) => (a < b ? -1 : 1));
    let left = this.#size;
    let floorNs = this.#floorNs;
    for (const instant of instants) {
      if (left <= wanted) break;
      left -= this.#byTime.get(instant)?.size ?? 0;
      floorNs = instant + 1n;
    }
    this.forgetBefore(floorNs);
  }
}
