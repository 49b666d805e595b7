import { useCallback, useEffect, useState } from 'preact/hooks';
import { fetchPipeline, ServerError } from './api.js';
import type { LoadedPipeline } from './model/wire.js';

/** The latest known pipeline. It stays visible if the process no longer answers. */
export interface PipelineView {
  readonly pipeline: LoadedPipeline | undefined;
  readonly problem: string | undefined;
  readonly wantsToken: boolean;
  readonly refresh: () => void;
}

const refreshMs = 5_000;

/** Loads the pipeline now, every few seconds while the page is visible, and on request. */
export function usePipeline(): PipelineView {
  const [state, setState] = useState<Omit<PipelineView, 'refresh'>>({
    pipeline: undefined,
    problem: undefined,
    wantsToken: false,
  });
  const refresh = useCallback(() => {
    fetchPipeline(AbortSignal.timeout(refreshMs)).then(
      (pipeline) => setState({ pipeline, problem: undefined, wantsToken: false }),
      (error: unknown) => {
        const wantsToken = error instanceof ServerError && error.status === 401;
        const problem = error instanceof ServerError ? error.message : 'The proxy does not answer.';
        setState(({ pipeline }) => ({ pipeline, problem, wantsToken }));
      },
    );
  }, []);
  useEffect(() => {
    const look = (): void => {
      if (!document.hidden) refresh();
    };
    look();
    const timer = setInterval(look, refreshMs);
    document.addEventListener('visibilitychange', look);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, [refresh]);
  return { ...state, refresh };
}
