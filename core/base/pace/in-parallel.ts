/**
 * Runs parts with limited concurrency. The first failure cancels all others and becomes the failure of the whole.
 * @param ended cancels all parts
 */
export async function inParallel<Part>(
  parts: readonly Part[],
  parallel: number,
  run: (part: Part, signal: AbortSignal) => Promise<void>,
  ended: AbortSignal,
): Promise<void> {
  const failed = new AbortController();
  const signal = AbortSignal.any([ended, failed.signal]);
  const queue = parts.values();
  const worker = async (): Promise<void> => {
    for (const part of queue) {
      signal.throwIfAborted();
      await run(part, signal);
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(parallel, parts.length) }, worker));
  } catch (error) {
    failed.abort(error);
    throw error;
  }
}
