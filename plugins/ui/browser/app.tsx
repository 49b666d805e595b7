import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { tenantNeed } from './model/options.js';
import { Header } from './parts/header.js';
import { PipelineView } from './parts/pipeline-view.js';
import { QueryView } from './parts/query-view.js';
import { TokenForm } from './parts/token-form.js';
import { session } from './store/session.js';
import { useStore } from './store/store.js';
import { usePipeline } from './use-pipeline.js';

/** The page: one of its two views, below the bar that switches between them. */
export function App(): JSX.Element {
  const { pipeline, problem, wantsToken, refresh } = usePipeline();
  const view = useStore(session.store, (state) => state.view);
  const isLoaded = pipeline !== undefined && !wantsToken;
  useEffect(() => {
    session.onDone = refresh;
  }, [refresh]);
  useEffect(() => {
    if (pipeline !== undefined) session.needsTenant = tenantNeed(pipeline) === 'required';
  }, [pipeline]);
  // The query in the URL runs once the page has access.
  useEffect(() => (isLoaded ? session.start() : undefined), [isLoaded]);
  return (
    <>
      <Header pipeline={pipeline} problem={wantsToken ? undefined : problem} />
      <main class="page">
        {wantsToken ? (
          <TokenForm onToken={refresh} />
        ) : pipeline === undefined ? (
          problem !== undefined && (
            <p class="panel empty" role="alert">
              {problem}{' '}
              <button type="button" class="button" onClick={refresh}>
                Try again
              </button>
            </p>
          )
        ) : (
          <>
            <div hidden={view !== 'query'}>
              <QueryView need={tenantNeed(pipeline)} />
            </div>
            {view === 'pipeline' && <PipelineView pipeline={pipeline} />}
          </>
        )}
      </main>
      <footer class="footer">
        ref-proxy · works without a network · <a href="licences.txt">licences of what this page uses</a>
      </footer>
    </>
  );
}
