import { setTimeout as delay } from 'node:timers/promises';
import { apiError } from '../errors/table.js';

/** The function, which does nothing when it is called again. */
export function once(run: () => void): () => void {
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    run();
  };
}

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

/** The total time one request may spend in queues. Overlapping waits count once. */
export class WaitBudget {
  readonly #waits: Waits;
  #wholeMs: number;

  constructor(wholeMs: number, nowMs: () => number) {
    this.#wholeMs = wholeMs;
    this.#waits = new Waits(nowMs);
  }

  get leftMs(): number {
    return Math.max(0, this.#wholeMs - this.#waits.ms);
  }

  /** Starts a wait; the returned function ends it. */
  begin(): () => void {
    this.#waits.begin();
    return once(() => this.#waits.end());
  }

  /** Spends the whole budget: once a request has been refused, it is refused immediately from then on. */
  exhaust(): void {
    this.#wholeMs = 0;
  }
}

/**
 * Settles with the work, or with the abort reason as soon as the signal aborts, so that no caller waits for work that ignores its signal.
 */
export async function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise<Value>((resolve, reject) => {
    const onAbort = (): void => {
      reject(signal.reason instanceof Error ? signal.reason : apiError('clientGone', {}));
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', onAbort);
    });
  });
}

/** Maximum delay: Node.js fires timers of more than 24.8 days at once, and adds to some of those that it is given. */
const longestMs = 24 * 24 * 3_600_000;

/** A delay that every kind of timer takes, those of libraries too: whole milliseconds, at most 24 days. */
export function timerMs(ms: number): number {
  return Math.min(Math.max(0, Math.ceil(ms)), longestMs);
}

/** `setTimeout` for a delay of any length. */
export function startTimer(action: () => void, ms: number): NodeJS.Timeout {
  return setTimeout(action, timerMs(ms));
}

/** `setInterval` for an interval of any length. */
export function startInterval(action: () => void, ms: number): NodeJS.Timeout {
  return setInterval(action, timerMs(ms));
}

/** `AbortSignal.timeout` for a timeout of any length. */
export function timeoutSignal(ms: number): AbortSignal {
  return AbortSignal.timeout(timerMs(ms));
}

interface SleepOptions {
  readonly signal?: AbortSignal;
  /** False if the process may end while it sleeps. */
  readonly ref?: boolean;
}

/**
 * Resolves after a delay of any length.
 * @throws AbortError when the signal aborts
 */
export function sleep(ms: number, options?: SleepOptions): Promise<void> {
  return delay(timerMs(ms), undefined, options);
}

/** Waits until `begin` calls `done` or the signal aborts, then calls the cleanup function that `begin` returned. */
export function doneOrAborted(begin: (done: () => void) => () => void, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const done = (): void => {
      end();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const end = begin(done);
    signal.addEventListener('abort', done);
  });
}

/** Waits `ms` milliseconds or until the signal aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return doneOrAborted((done) => {
    const timer = startTimer(done, ms);
    return () => clearTimeout(timer);
  }, signal);
}
