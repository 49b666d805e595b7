import { useEffect, useState } from 'preact/hooks';

/** The limit of the style sheets for phones. */
const narrow = matchMedia('(max-width: 600px)');

/** True if the window is as narrow as a phone, updated as it changes. */
export function useNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(narrow.matches);
  useEffect(() => {
    const look = (): void => setNarrow(narrow.matches);
    narrow.addEventListener('change', look);
    return () => narrow.removeEventListener('change', look);
  }, []);
  return isNarrow;
}
