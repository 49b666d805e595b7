/** A concurrency permit held by one request. */
export interface Permit {
  /**
   * Gives the permit back while the request waits for others. The returned function takes it again without queueing. Overlapping pauses
   * count as one.
   */
  pause(): () => void;
}

/** Awaits other work without holding the permit. */
export async function withoutPermit<Value>(
  permit: Permit | undefined,
  awaited: () => Promise<Value>,
): Promise<Value> {
  const resume = permit?.pause();
  try {
    return await awaited();
  } finally {
    resume?.();
  }
}

/** A permit as seen by the request or call that holds it. */
export interface HeldPermit extends Permit {
  leave(): void;
}

/**
 * Creates a permit that is held from now on. `onGiveBack` runs on each pause and on release; `onTake` runs when the permit is taken again.
 */
export function heldPermit(onTake: () => void, onGiveBack: () => void): HeldPermit {
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
