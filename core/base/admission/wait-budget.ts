/** How long one request may wait at gates in all; waits that go on at once count once. */
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

  /** Milliseconds that are left. */
  get leftMs(): number {
    const running = this.#waiting > 0 ? this.#nowMs() - this.#since : 0;
    return Math.max(0, this.#wholeMs - this.#spentMs - running);
  }

  /** Begins a wait; what comes back ends it. */
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

  /** Spends all of it: what was refused once is refused at once from then on. */
  exhaust(): void {
    this.#spentMs = this.#wholeMs;
  }
}
