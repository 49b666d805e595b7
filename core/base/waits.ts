/** For how long something was waited for, by any number of waiters at once. */
export class Waits {
  readonly #nowMs: () => number;
  #waiters = 0;
  #sinceMs = 0;
  #sumMs = 0;

  /** `nowMs` is a clock that never goes back. */
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

  /** Milliseconds so far. */
  get ms(): number {
    return this.#sumMs + (this.#waiters > 0 ? this.#nowMs() - this.#sinceMs : 0);
  }
}
