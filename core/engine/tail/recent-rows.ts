import { ofKey } from '../../base/memory/byte-lru.js';
import { hash } from 'node:crypto';
import { entryIdentity, type Identified } from '../../victoria/names/entry-identity.js';

/**
 * Remembers the rows that a tail has seen, so that windows may overlap. If it is full, the oldest timestamps are forgotten and everything
 * before the remaining ones counts as seen, so that no row is shown twice.
 */
export class RecentRows {
  readonly #maxRows: number;
  readonly #byTime = new Map<bigint, Set<string>>();
  #size = 0;
  #floorNs: bigint;

  /** @param floorNs rows before this time do not belong to the tail */
  constructor(maxRows: number, floorNs: bigint) {
    this.#maxRows = maxRows;
    this.#floorNs = floorNs;
  }

  /** Rows before this time count as seen, so reading them is pointless. */
  get floorNs(): bigint {
    return this.#floorNs;
  }

  get size(): number {
    return this.#size;
  }

  /** Adds a row; false when it was seen before. */
  add(row: Identified & { readonly timestampNs: bigint }): boolean {
    const { timestampNs } = row;
    if (timestampNs < this.#floorNs) return false;
    // Hashed, because lines may be long.
    const key = hash('sha1', entryIdentity(row), 'binary');
    const atInstant = ofKey(this.#byTime, timestampNs, () => new Set<string>());
    if (atInstant.has(key)) return false;
    atInstant.add(key);
    this.#size += 1;
    if (this.#size > this.#maxRows) this.#forgetOldest();
    return true;
  }

  forgetBefore(floorNs: bigint): void {
    if (floorNs <= this.#floorNs) return;
    this.#floorNs = floorNs;
    for (const [timestampNs, keys] of this.#byTime) {
      if (timestampNs >= floorNs) continue;
      this.#byTime.delete(timestampNs);
      this.#size -= keys.size;
    }
  }

  /** Forgets a quarter of the rows at once, so that sorting is rare. */
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
