import { untilAborted, startTimer } from '../base/time/waits.js';

/** Runs work with a signal that aborts after a time limit or with the given signal. Rejects then, even if the work ignores the signal. */
export async function withinBound<Value>(
  boundMs: number,
  work: (signal: AbortSignal) => Promise<Value> | Value,
  given?: AbortSignal,
): Promise<Value> {
  given?.throwIfAborted();
  const overdue = new AbortController();
  const timer = startTimer(() => {
    overdue.abort(new Error(`timeout after ${boundMs} ms`));
  }, boundMs);
  const signal = given === undefined ? overdue.signal : AbortSignal.any([given, overdue.signal]);
  try {
    return await untilAborted((async () => work(signal))(), signal);
  } finally {
    clearTimeout(timer);
  }
}
