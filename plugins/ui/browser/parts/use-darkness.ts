import { useEffect, useState } from 'preact/hooks';
import { session } from '../store/session.js';
import { useStore } from '../store/store.js';

const dark = matchMedia('(prefers-color-scheme: dark)');

/** True if the page has dark colours, for what is painted instead of styled. */
export function useDarkness(): boolean {
  const theme = useStore(session.store, (state) => state.settings.theme);
  const [isDark, setDark] = useState(dark.matches);
  useEffect(() => {
    const look = (): void => setDark(dark.matches);
    dark.addEventListener('change', look);
    return () => dark.removeEventListener('change', look);
  }, []);
  return theme === 'system' ? isDark : theme === 'dark';
}
