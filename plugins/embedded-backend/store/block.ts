import type { RowLayout } from './row-layout.js';

/** Rows per block: small enough for pruning by time, large enough to make a block's overhead negligible. */
export const BLOCK_ROWS = 2048;

/** A snapshot of a block's rows in time order; later appends and sorts do not change it. */
export interface BlockView {
  readonly times: BigInt64Array;
  readonly layouts: readonly RowLayout[];
  readonly values: readonly (readonly string[])[];
  readonly length: number;
}

/** Up to `BLOCK_ROWS` rows of one stream. Rows are appended in arrival order and sorted by time when first read; the sort is stable. */
export class Block {
  #times = new BigInt64Array(16);
  #layouts: RowLayout[] = [];
  #values: (readonly string[])[] = [];
  #length = 0;
  #sorted = true;
  #minNs = 0n;
  #maxNs = 0n;

  get length(): number {
    return this.#length;
  }
  /** Earliest time in the block. */
  get minNs(): bigint {
    return this.#minNs;
  }
  /** Latest time in the block. */
  get maxNs(): bigint {
    return this.#maxNs;
  }
  get full(): boolean {
    return this.#length >= BLOCK_ROWS;
  }

  append(timeNs: bigint, layout: RowLayout, values: readonly string[]): void {
    const at = this.#length;
    if (at === this.#times.length) {
      const grown = new BigInt64Array(at * 2);
      grown.set(this.#times);
      this.#times = grown;
    }
    this.#times[at] = timeNs;
    this.#layouts.push(layout);
    this.#values.push(values);
    if (at === 0) {
      this.#minNs = timeNs;
      this.#maxNs = timeNs;
    } else if (timeNs >= this.#maxNs) {
      this.#maxNs = timeNs;
    } else {
      this.#sorted = false;
      if (timeNs < this.#minNs) this.#minNs = timeNs;
    }
    this.#length = at + 1;
  }

  /** The rows so far in time order. */
  view(): BlockView {
    if (!this.#sorted) this.#sort();
    return { times: this.#times, layouts: this.#layouts, values: this.#values, length: this.#length };
  }

  /** Sorts into new arrays: running scans keep reading the old ones. */
  #sort(): void {
    const old = { times: this.#times, layouts: this.#layouts, values: this.#values };
    const order = Array.from({ length: this.#length }, (_, i) => i);
    order.sort((a, b) => {
      const ta = old.times[a] ?? 0n;
      const tb = old.times[b] ?? 0n;
      return ta < tb ? -1 : ta > tb ? 1 : a - b;
    });
    this.#times = new BigInt64Array(old.times.length);
    this.#layouts = [];
    this.#values = [];
    for (const [to, from] of order.entries()) {
      const layout = old.layouts[from];
      const values = old.values[from];
      if (layout === undefined || values === undefined) continue;
      this.#times[to] = old.times[from] ?? 0n;
      this.#layouts.push(layout);
      this.#values.push(values);
    }
    this.#sorted = true;
  }
}

/** Index of the first row at or after `timeNs`. */
export function lowerBound(view: BlockView, timeNs: bigint): number {
  let lo = 0;
  let hi = view.length;
  while (lo < hi) {
    const mid = (lo + hi) >>> 1;
    if ((view.times[mid] ?? 0n) < timeNs) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}
