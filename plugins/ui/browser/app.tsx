import type { JSX } from 'preact';
import { Chain } from './parts/chain.js';
import { Header } from './parts/header.js';
import { QueryPanel } from './parts/query-panel.js';
import { TokenForm } from './parts/token-form.js';
import { usePipeline } from './use-pipeline.js';

/** The page: what is loaded above, what it answers below. */
export function App(): JSX.Element {
  const { pipeline, problem, wantsToken, refresh } = usePipeline();
  return (
    <>
      <Header pipeline={pipeline} problem={wantsToken ? undefined : problem} />
      <main class="page">
        {wantsToken ? (
          <TokenForm onToken={refresh} />
        ) : (
          pipeline !== undefined && (
            <>
              <Chain pipeline={pipeline} />
              <QueryPanel pipeline={pipeline} onDone={refresh} />
            </>
          )
        )}
      </main>
    </>
  );
}
