import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

/** Distance from the newest line, in pixels, within which it is followed. */
const nearEdge = 40;

/**
 * Keeps the newest lines of a live view visible, at the bottom of the page if they are there, until the user scrolls away from them. Calls
 * `onAway` with true when the user scrolls away and with false when the user returns. Returns a function that scrolls back.
 */
export function useLiveEdge(
  view: RefObject<HTMLElement | null>,
  isNewestLast: boolean,
  isHeld: boolean,
  onAway: (isAway: boolean) => void,
): () => void {
  const now = useRef({ isNewestLast, isHeld });
  now.current = { isNewestLast, isHeld };
  const follow = (): void => {
    if (now.current.isNewestLast && !now.current.isHeld) scrollTo(0, document.body.scrollHeight);
  };
  useLayoutEffect(follow);
  useEffect(() => {
    let beforeY = scrollY;
    const look = (): void => {
      const isUp = scrollY < beforeY;
      beforeY = scrollY;
      if (isAtEdge(view.current, now.current.isNewestLast)) onAway(false);
      // Rows that are measured move the bottom away, but only somebody scrolls up.
      else if (isUp || !now.current.isNewestLast) onAway(true);
    };
    // Not before the list has learned that it was scrolled: it corrects for new rows above those in sight.
    let frame = 0;
    const onScroll = (): void => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(look);
    };
    const observer = new ResizeObserver(follow);
    observer.observe(document.body);
    addEventListener('scroll', onScroll, { passive: true });
    return () => {
      observer.disconnect();
      cancelAnimationFrame(frame);
      removeEventListener('scroll', onScroll);
    };
  }, []);
  const goToEdge = (): void => {
    if (isAtEdge(view.current, now.current.isNewestLast)) onAway(false);
    else scrollTo(0, now.current.isNewestLast ? document.body.scrollHeight : 0);
  };
  const before = useRef(isNewestLast);
  useLayoutEffect(() => {
    if (before.current !== isNewestLast) goToEdge();
    before.current = isNewestLast;
  }, [isNewestLast]);
  return goToEdge;
}

function isAtEdge(view: HTMLElement | null, isNewestLast: boolean): boolean {
  if (isNewestLast) return document.body.scrollHeight - scrollY - innerHeight < nearEdge;
  return (view?.getBoundingClientRect().top ?? 0) > -nearEdge;
}
