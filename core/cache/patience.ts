/** Share of the last measurement in the average. */
const weight = 0.2;
const leastMs = 50;
const usualMostMs = 100;
/** Whoever answers something small as fast as this is no longer slow. */
const quickMs = 25;
/** So many times the average is waited for. */
const patience = 4;
/** A late answer weighs as much as two in time. */
const lateWeight = 2;
const tooManyLate = 16;
/** Pauses grow to this. */
const longestPauseMs = 30_000;
const firstPauseMs = 1_000;

/**
 * How long to wait for somebody whose answer is not needed: a few times what it usually takes, within bounds. After many answers that came
 * late there is a pause, longer each time; to end it, ask what costs little and tell how long that took.
 */
export class Patience {
  readonly #nowMs: () => number;
  readonly #mostMs: number;
  #usualMs: number | undefined;
  /** The weight of late answers, less that of those in time. */
  #late = 0;
  #pauseMs = firstPauseMs;
  #pausedUntilMs = -Infinity;
  #isPaused = false;

  /**
   * @param nowMs of a clock that never runs backwards
   * @param mostMs the longest wait
   */
  constructor(nowMs: () => number, mostMs = usualMostMs) {
    this.#nowMs = nowMs;
    this.#mostMs = mostMs;
  }

  get budgetMs(): number {
    if (this.#usualMs === undefined) return this.#mostMs;
    return Math.min(this.#mostMs, Math.max(leastMs, patience * this.#usualMs));
  }

  /** Whether it is of no use to ask now. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** How long an answer took, in time or late. */
  took(ms: number): void {
    this.#usualMs = this.#usualMs === undefined ? ms : this.#usualMs + weight * (ms - this.#usualMs);
  }

  /** Whether an answer was there in time; true when too many were not, so that a pause begins. */
  ended(isInTime: boolean): boolean {
    if (isInTime) {
      this.#late = Math.max(0, this.#late - 1);
      if (this.#late === 0) this.#pauseMs = firstPauseMs;
      return false;
    }
    this.#late += lateWeight;
    if (this.#isPaused || this.#late < tooManyLate) return false;
    this.#isPaused = true;
    this.#pausedUntilMs = this.#nowMs() + this.#pauseMs;
    this.#pauseMs = Math.min(longestPauseMs, 2 * this.#pauseMs);
    return true;
  }

  /** Something small was answered after so long; true when that ends a pause. */
  probed(ms: number): boolean {
    if (!this.#isPaused || this.#nowMs() < this.#pausedUntilMs || ms > quickMs) return false;
    this.#isPaused = false;
    // One late answer more and it begins again.
    this.#late = tooManyLate - lateWeight;
    this.#usualMs = ms;
    return true;
  }

  /** Waits for an answer as long as it is worth it; `late` when it was not there. */
  async wait<Value>(answer: Promise<Value>): Promise<Value | 'late'> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => {
      // Where this process was busy, the answer may be there and unread: sockets are read after timers.
      timer = setTimeout(() => setImmediate(() => setImmediate(() => resolve('late'))), this.budgetMs);
    });
    try {
      return await Promise.race([answer, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}
