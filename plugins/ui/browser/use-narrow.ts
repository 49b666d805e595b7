import { useEffect, useState } from 'preact/hooks';

/** As the style sheets have it for telephones. */
const narrow = matchMedia('(max-width: 600px)');

/** True when the window is as narrow as a telephone, updated as it changes. */
export function useNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(narrow.matches);
  useEffect(() => {
    const look = (): void => setNarrow(narrow.matches);
    narrow.addEventListener('change', look);
    return () => narrow.removeEventListener('change', look);
  }, []);
  return isNarrow;
}
