/** A concurrency place held by one request. */
export interface Place {
  /**
   * Gives the place back while the request waits for others. The returned function takes it again without queueing. Overlapping pauses
   * count as one.
   */
  pause(): () => void;
}

/** Awaits others' work without holding the place meanwhile. */
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

/** A place that is held from now on. `go` runs when it is given back, for a while or for good; `come` runs when it is taken again. */
export function heldPlace(come: () => void, go: () => void): HeldPlace {
  let pauses = 0;
  let isOut = false;
  return {
    pause: () => {
      if (pauses === 0 && !isOut) go();
      pauses += 1;
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        pauses -= 1;
        if (pauses === 0 && !isOut) come();
      };
    },
    leave: () => {
      if (isOut) return;
      isOut = true;
      if (pauses === 0) go();
    },
  };
}
