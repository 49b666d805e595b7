/** Waits `ms` milliseconds, at least one and at most what a timer can hold, or until the signal is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, Math.min(Math.max(1, ms), 2 ** 31 - 1));
    signal.addEventListener('abort', done);
  });
}
