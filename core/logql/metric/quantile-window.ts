/**
 * Loki's quantile of values in ascending order: results are interpolated linearly.
 * @param valueAt NaN sorts below all numbers
 */
export function quantileOf(phi: number, size: number, valueAt: (index: number) => number): number {
  if (size === 0) return NaN;
  if (phi < 0) return -Infinity;
  if (phi > 1) return Infinity;
  const rank = phi * (size - 1);
  const lower = lowerRankOf(phi, size);
  const upper = Math.min(size - 1, lower + 1);
  const weight = rank - Math.floor(rank);
  return valueAt(lower) * (1 - weight) + valueAt(upper) * weight;
}

/** The lower of the two neighbouring ranks between which a quantile of 0 to 1 lies. */
export function lowerRankOf(phi: number, size: number): number {
  return Math.max(0, Math.floor(phi * (size - 1)));
}

/**
 * The quantile of a sliding window over known values: a Fenwick tree of counts over the sorted values. Adding or removing a value and
 * reading a quantile take logarithmic time.
 */
export class QuantileWindow {
  readonly #sorted: Float64Array;
  readonly #counts: Int32Array;
  readonly #topStep: number;
  #size = 0;
  #nans = 0;

  /** @param sorted all values that will ever be in the window, ascending */
  constructor(sorted: Float64Array) {
    let numbers = sorted.length;
    while (numbers > 0 && Number.isNaN(sorted[numbers - 1])) numbers -= 1;
    this.#sorted = sorted.subarray(0, numbers);
    this.#counts = new Int32Array(numbers + 1);
    this.#topStep = numbers === 0 ? 0 : 2 ** Math.floor(Math.log2(numbers));
  }

  get size(): number {
    return this.#size;
  }

  add(value: number): void {
    this.#change(value, 1);
  }

  remove(value: number): void {
    this.#change(value, -1);
  }

  quantile(phi: number): number {
    return quantileOf(phi, this.#size, (index) => this.#valueAt(index));
  }

  #change(value: number, by: number): void {
    this.#size += by;
    if (Number.isNaN(value)) {
      this.#nans += by;
      return;
    }
    for (let at = this.#rankOf(value) + 1; at < this.#counts.length; at += at & -at) {
      this.#counts[at] = (this.#counts[at] ?? 0) + by;
    }
  }

  /** The index of the first value that is not smaller. */
  #rankOf(value: number): number {
    let low = 0;
    let high = this.#sorted.length - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#sorted[middle] ?? 0) < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #valueAt(index: number): number {
    let left = index - this.#nans;
    if (left < 0) return NaN;
    let at = 0;
    for (let step = this.#topStep; step >= 1; step /= 2) {
      const next = at + step;
      const count = this.#counts[next] ?? Infinity;
      if (next < this.#counts.length && count <= left) {
        at = next;
        left -= count;
      }
    }
    return this.#sorted[at] ?? NaN;
  }
}
