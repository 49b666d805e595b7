/** Total time during which at least one waiter was waiting. */
export class Waits {
  readonly #nowMs: () => number;
  #waiters = 0;
  #sinceMs = 0;
  #sumMs = 0;

  /** @param nowMs a monotonic clock */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  begin(): void {
    if (this.#waiters === 0) this.#sinceMs = this.#nowMs();
    this.#waiters += 1;
  }

  end(): void {
    this.#waiters -= 1;
    if (this.#waiters === 0) this.#sumMs += this.#nowMs() - this.#sinceMs;
  }

  /** Total in milliseconds so far. */
  get ms(): number {
    return this.#sumMs + (this.#waiters > 0 ? this.#nowMs() - this.#sinceMs : 0);
  }
}
