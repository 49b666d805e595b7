/** A concurrency permit held by one request. */
export interface Place {
  /**
   * Gives the place back while the request waits for others. The returned function takes it again without queueing. Overlapping pauses
   * count as one.
   */
  pause(): () => void;
}

/** Awaits other work without holding the place. */
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

/** A place as seen by the request or call that holds it. */
export interface HeldPlace extends Place {
  leave(): void;
}

/**
 * Creates a place that is held from now on. `onGiveBack` runs on each pause and on release; `onTake` runs when the place is taken again.
 */
export function heldPlace(onTake: () => void, onGiveBack: () => void): HeldPlace {
  let pauses = 0;
  let hasLeft = false;
  return {
    pause: () => {
      if (pauses === 0 && !hasLeft) onGiveBack();
      pauses += 1;
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        pauses -= 1;
        if (pauses === 0 && !hasLeft) onTake();
      };
    },
    leave: () => {
      if (hasLeft) return;
      hasLeft = true;
      if (pauses === 0) onGiveBack();
    },
  };
}
