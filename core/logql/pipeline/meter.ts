/** Thrown where a line would take longer than it may here. What was done for it so far counts for nothing. */
export class TooCostly extends Error {
  override readonly name = 'TooCostly';
}

// One for all: it tells nothing but that it happened, and stacks are costly to make.
const tooCostly = new TooCostly('the line costs too much to be evaluated here');

/**
 * What evaluating one line may cost, in nanoseconds that are estimated before anything is done: the cost of a stage for each
 * character times the characters that it reads. Without a limit nothing is ever too costly.
 */
export class Meter {
  readonly #limit: number;
  #spent = 0;
  #startedAt: number | undefined;

  constructor(limit = Infinity) {
    this.#limit = limit;
  }

  /** To be called before each line. */
  start(): void {
    this.#spent = 0;
    this.#startedAt = undefined;
  }

  /** What the line has cost so far. */
  get spent(): number {
    return this.#spent;
  }

  /** @throws TooCostly when that is more than the limit, together with what was charged before */
  charge(nanoseconds: number): void {
    this.#spent += nanoseconds;
    if (this.#spent > this.#limit) throw tooCostly;
  }

  /** Where no estimate tells how often something is done: looks at the clock. */
  tick(): void {
    if (this.#limit === Infinity) return;
    const now = performance.now();
    this.#startedAt ??= now;
    if ((now - this.#startedAt) * 1e6 > this.#limit) throw tooCostly;
  }
}
