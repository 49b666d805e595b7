/** Lets a bounded number of calls run at once; the others wait in the order in which they came. */
export class CallGate {
  readonly #limit: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** `limit` 0 means no bound. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Waits for a place and gives back what frees it. The wait ends with the signal's reason. */
  async enter(signal: AbortSignal): Promise<() => void> {
    if (this.#limit > 0 && this.#running >= this.#limit) await this.#wait(signal);
    else this.#running += 1;
    let isOut = false;
    return () => {
      if (isOut) return;
      isOut = true;
      const next = this.#waiting.shift();
      // A place is handed on, so the count stays.
      if (next === undefined) this.#running -= 1;
      else next();
    };
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = (): void => {
        const place = this.#waiting.indexOf(enter);
        if (place >= 0) this.#waiting.splice(place, 1);
        const reason: unknown = signal.reason;
        reject(reason instanceof Error ? reason : new Error('aborted', { cause: reason }));
      };
      this.#waiting.push(enter);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }
}
