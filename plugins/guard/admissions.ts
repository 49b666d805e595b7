/**
 * Counts requests in flight up to a cap. A request that a stage before took apart (one part per tenant) holds one place for all its
 * parts: they share an object, its trace.
 */
export class Admissions {
  readonly #max: number;
  readonly #parts = new WeakMap<object, number>();
  #inFlight = 0;

  /** A cap of 0 admits everything. */
  constructor(max: number) {
    this.#max = max;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** True for the first part of a request that ever asked. */
  isFirst(request: object): boolean {
    return !this.#parts.has(request);
  }

  /** Takes a place and gives back how to leave it; undefined when all are taken. */
  enter(request: object): (() => void) | undefined {
    const parts = this.#parts.get(request) ?? 0;
    if (parts === 0) {
      if (this.#max > 0 && this.#inFlight >= this.#max) return undefined;
      this.#inFlight += 1;
    }
    this.#parts.set(request, parts + 1);
    return () => {
      const left = (this.#parts.get(request) ?? 1) - 1;
      this.#parts.set(request, left);
      if (left === 0) this.#inFlight -= 1;
    };
  }
}
