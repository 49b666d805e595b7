/** Thrown when a line would take longer than allowed here. Partial results are discarded. */
export class TooCostly extends Error {
  override readonly name = 'TooCostly';
}

// A shared instance: it carries no information, and stack traces are expensive to create.
const tooCostly = new TooCostly('the line costs too much to be evaluated here');

/**
 * The estimated cost of evaluating one line, in nanoseconds, charged before the work: the cost of a stage per character times the
 * characters it reads. Without a limit nothing is too costly.
 */
export class Meter {
  readonly #limit: number;
  readonly #nowMs: () => number;
  #spent = 0;
  #startedAt: number | undefined;

  /** `nowMs` reads a clock that never runs backwards, in milliseconds. */
  constructor(limit = Infinity, nowMs = () => performance.now()) {
    this.#limit = limit;
    this.#nowMs = nowMs;
  }

  /** Call before each line. */
  start(): void {
    this.#spent = 0;
    this.#startedAt = undefined;
  }

  /** The cost of the line so far. */
  get spent(): number {
    return this.#spent;
  }

  /** @throws TooCostly when this and all previous charges exceed the limit */
  charge(nanoseconds: number): void {
    this.#spent += nanoseconds;
    if (this.#spent > this.#limit) throw tooCostly;
  }

  /** Checks the clock, for work whose amount cannot be estimated. */
  tick(): void {
    if (this.#limit === Infinity) return;
    const now = this.#nowMs();
    this.#startedAt ??= now;
    if ((now - this.#startedAt) * 1e6 > this.#limit) throw tooCostly;
  }
}
