import { useEffect, useState } from 'preact/hooks';
import type uPlot from './uplot.js';

export type Plotting = typeof uPlot;

let loaded: Plotting | undefined;

/** uPlot as soon as it is loaded; after the first chart it is there at once. */
export function usePlotting(): Plotting | 'loading' | 'failed' {
  const [state, set] = useState<'loading' | 'loaded' | 'failed'>('loading');
  useEffect(() => {
    if (loaded !== undefined) return;
    import('./uplot.js').then(
      (module) => {
        loaded = module.default;
        set('loaded');
      },
      () => set('failed'),
    );
  }, []);
  return loaded ?? (state === 'failed' ? 'failed' : 'loading');
}
