/**
 * Runs parts with limited concurrency. The first failure cancels all others and becomes the failure of the whole.
 * @param ended cancels all parts
 * @returns the results in the order of the parts
 */
export async function inParallel<Part, Result>(
  parts: readonly Part[],
  parallel: number,
  run: (part: Part, signal: AbortSignal) => Promise<Result>,
  ended: AbortSignal,
): Promise<readonly Result[]> {
  const failed = new AbortController();
  const signal = AbortSignal.any([ended, failed.signal]);
  const queue = parts.entries();
  const results: Result[] = [];
  const worker = async (): Promise<void> => {
    for (const [index, part] of queue) {
      signal.throwIfAborted();
      results[index] = await run(part, signal);
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(parallel, parts.length) }, worker));
    return results;
  } catch (error) {
    failed.abort(error);
    throw error;
  }
}
