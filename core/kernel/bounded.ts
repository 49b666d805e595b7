/** Something of a plugin that took longer than its bound. */
export class TimeBoundError extends Error {}

/** Runs work with a signal that ends after a bound; rejects then, whether the work listens or not. */
export async function withinBound<Value>(
  boundMs: number,
  work: (signal: AbortSignal) => Promise<Value> | Value,
): Promise<Value> {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const overdue = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const error = new TimeBoundError(`not done after ${boundMs} ms`);
      controller.abort(error);
      reject(error);
    }, boundMs);
  });
  try {
    return await Promise.race([(async () => work(controller.signal))(), overdue]);
  } finally {
    clearTimeout(timer);
  }
}
