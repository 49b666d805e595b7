/** A place among the requests that this replica works on. */
export interface Place {
  /**
   * Gives the place back while its request waits for others, and takes it again, without asking, when the returned function is
   * called. Waits that go on at once count once.
   */
  pause(): () => void;
}

/** Awaits what others have to do first, and holds no place meanwhile. */
export async function withoutPlace<Value>(
  place: Place | undefined,
  awaited: () => Promise<Value>,
): Promise<Value> {
  const resume = place?.pause();
  try {
    return await awaited();
  } finally {
    resume?.();
  }
}
