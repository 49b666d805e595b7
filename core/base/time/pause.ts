import { startTimer } from './timers.js';

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
