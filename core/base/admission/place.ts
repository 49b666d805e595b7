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

/** A place as its request or call holds it. */
export interface HeldPlace extends Place {
  /** Gives the place back for good. */
  leave(): void;
}

/** A place that is held now. `go` gives it back, for a while or for good, and `come` takes it again. */
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
