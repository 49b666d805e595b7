/** Waits until `begin` says that it is done, or until the signal is aborted; what `begin` gives back ends what it began. */
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

/** Waits `ms` milliseconds, at least one and at most what a timer can hold, or until the signal is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return doneOrAborted((done) => {
    const timer = setTimeout(done, Math.min(Math.max(1, ms), 2 ** 31 - 1));
    return () => clearTimeout(timer);
  }, signal);
}
