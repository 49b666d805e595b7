/** A plugin's work exceeded its time limit. */
export class TimeBoundError extends Error {}

/** Runs work with a signal that aborts after a time limit or with the given signal. Rejects then, even if the work ignores the signal. */
export async function withinBound<Value>(
  boundMs: number,
  work: (signal: AbortSignal) => Promise<Value> | Value,
  given?: AbortSignal,
): Promise<Value> {
  const controller = new AbortController();
  const onGiven = (): void => controller.abort(given?.reason);
  const timer = setTimeout(() => {
    controller.abort(new TimeBoundError(`timeout after ${boundMs} ms`));
  }, boundMs);
  const overdue = new Promise<never>((_resolve, reject) => {
    controller.signal.addEventListener('abort', () => {
      const reason: unknown = controller.signal.reason;
      reject(reason instanceof Error ? reason : new Error('cancelled'));
    });
  });
  try {
    given?.throwIfAborted();
    given?.addEventListener('abort', onGiven);
    return await Promise.race([(async () => work(controller.signal))(), overdue]);
  } finally {
    clearTimeout(timer);
    given?.removeEventListener('abort', onGiven);
  }
}
