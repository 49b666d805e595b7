import { useEffect, useState } from 'preact/hooks';

/** The width at which a panel fits beside a list. */
const wide = matchMedia('(min-width: 1024px)');

/** True if the window has room for a side panel, updated as it changes. */
export function useWide(): boolean {
  const [isWide, setWide] = useState(wide.matches);
  useEffect(() => {
    const look = (): void => setWide(wide.matches);
    wide.addEventListener('change', look);
    return () => wide.removeEventListener('change', look);
  }, []);
  return isWide;
}
