import type { JSX } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { tenantNeed } from './model/options.js';
import { shareTargets } from './model/query/share.js';
import type { ShortcutAction } from './model/query/shortcuts.js';
import { goToQuery, Header } from './parts/header.js';
import { PipelineView } from './parts/pipeline-view.js';
import { HelpDialog } from './parts/query/help-dialog.js';
import { QueryView } from './parts/query-view.js';
import { TokenForm } from './parts/token-form.js';
import { session } from './store/session.js';
import { useStore } from './store/store.js';
import { usePipeline } from './use-pipeline.js';
import { useShortcuts } from './use-shortcuts.js';

/** The page: one of its two views, below the bar that switches between them. */
export function App(): JSX.Element {
  const { pipeline, problem, wantsToken, refresh } = usePipeline();
  const view = useStore(session.store, (state) => state.view);
  const [hasHelp, showHelp] = useState(false);
  const isLoaded = pipeline !== undefined && !wantsToken;
  useEffect(() => {
    session.onDone = refresh;
  }, [refresh]);
  useEffect(() => {
    if (pipeline !== undefined) session.needsTenant = tenantNeed(pipeline) === 'required';
  }, [pipeline]);
  // The query in the URL runs once the page has access.
  useEffect(() => (isLoaded ? session.start() : undefined), [isLoaded]);
  const act = useCallback((action: ShortcutAction) => {
    if (action === 'help') showHelp(true);
    else actions[action]();
  }, []);
  useShortcuts(act, isLoaded);
  return (
    <>
      <Header pipeline={pipeline} problem={wantsToken ? undefined : problem} onHelp={() => showHelp(true)} />
      {hasHelp && <HelpDialog onClose={() => showHelp(false)} />}
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
              <QueryView
                need={tenantNeed(pipeline)}
                targets={shareTargets(pipeline, new URL(location.href))}
              />
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

const actions: Readonly<Record<Exclude<ShortcutAction, 'help'>, () => void>> = {
  query: goToQuery,
  earlier: () => session.shift(-1),
  later: () => session.shift(1),
  zoomOut: () => session.zoomOut(),
  run: () => session.run(),
  live: () => (session.store.state.live === undefined ? session.goLive() : session.live.end()),
  showQuery: () => session.show('query'),
  showPipeline: () => session.show('pipeline'),
};
