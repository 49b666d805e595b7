/** The total time one request may spend in queues. Overlapping waits count once. */
export class WaitBudget {
  readonly #wholeMs: number;
  readonly #nowMs: () => number;
  #spentMs = 0;
  #waiting = 0;
  #since = 0;

  constructor(wholeMs: number, nowMs: () => number) {
    this.#wholeMs = wholeMs;
    this.#nowMs = nowMs;
  }

  get leftMs(): number {
    const running = this.#waiting > 0 ? this.#nowMs() - this.#since : 0;
    return Math.max(0, this.#wholeMs - this.#spentMs - running);
  }

  /** Starts a wait; the returned function ends it. */
  begin(): () => void {
    if (this.#waiting === 0) this.#since = this.#nowMs();
    this.#waiting += 1;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#spentMs += this.#nowMs() - this.#since;
    };
  }

  /** Spends the whole budget: once a request has been refused, it is refused immediately from then on. */
  exhaust(): void {
    this.#spentMs = this.#wholeMs;
  }
}
