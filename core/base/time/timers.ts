import { setTimeout as delay } from 'node:timers/promises';

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
