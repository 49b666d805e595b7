import { useEffect, useState } from 'preact/hooks';

/** The limits of the style sheets in pixels: phones, and windows without room for a side panel. */
export type NarrowLimit = 600 | 1023;

/** True if the window is no wider than a limit, updated as it changes; without one, as narrow as a phone. */
export function useNarrow(limit: NarrowLimit = 600): boolean {
  const [isNarrow, setNarrow] = useState(() => mediaOf(limit).matches);
  useEffect(() => {
    const media = mediaOf(limit);
    const look = (): void => setNarrow(media.matches);
    media.addEventListener('change', look);
    return () => media.removeEventListener('change', look);
  }, [limit]);
  return isNarrow;
}

function mediaOf(limit: NarrowLimit): MediaQueryList {
  return matchMedia(`(max-width: ${limit}px)`);
}
