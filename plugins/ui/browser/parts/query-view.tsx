import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Editor, type EditorHandle } from '../editor/editor.js';
import type { tenantNeed } from '../model/options.js';
import type { ShareTargets } from '../model/query/share.js';
import { checkText } from '../store/check-text.js';
import { session } from '../store/session.js';
import { openedPlans } from '../store/plan-runs.js';
import { useStore } from '../store/store.js';
import { Examples } from './examples.js';
import { Failure } from './failure.js';
import { HistoryDialog } from './history-dialog.js';
import { LiveView } from './live-view.js';
import { OpenedPlanView } from './plan/opened-plan.js';
import { QueryBar } from './query-bar.js';
import { Result, summaryOf } from './result.js';
import { RunButton } from './query/run-button.js';
import { SidePanel } from './side/side-panel.js';

/** The query and its result. */
export function QueryView({
  need,
  targets,
}: {
  readonly need: ReturnType<typeof tenantNeed>;
  readonly targets: ShareTargets;
}): JSX.Element {
  const query = useStore(session.store, (state) => state.form.query);
  const version = useStore(session.store, (state) => state.queryVersion);
  const problem = useStore(session.store, (state) => state.problem);
  const outcome = useStore(session.store, (state) => state.outcome);
  const live = useStore(session.store, (state) => state.live);
  const isRunning = useStore(session.store, (state) => state.runningSince !== undefined);
  const openedPlan = useStore(openedPlans.store, (state) => state.opened);
  const [dialog, open] = useState<'history'>();
  const editor = useRef<EditorHandle>(null);
  useEffect(() => {
    // The invalid input gets the focus; the fields do that themselves.
    if (problem?.field === 'query') editor.current?.focus();
  }, [problem]);
  const close = (): void => {
    open(undefined);
    editor.current?.focus();
  };
  return (
    <section class="query" aria-label="Query">
      <h2 class="visually-hidden">Query</h2>
      <p class="visually-hidden" role="status">
        {outcome.kind === 'answered' && !isRunning ? summaryOf(outcome).join(', ') : ''}
      </p>
      <form
        class={problem?.field === 'query' ? 'panel query-form is-wrong' : 'panel query-form'}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          session.run();
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.defaultPrevented) return;
          // While a query runs the form has no submit button, so Enter would not submit it.
          if (!(event.ctrlKey || event.metaKey || event.target instanceof HTMLInputElement)) return;
          event.preventDefault();
          session.run();
        }}
      >
        <div class="editor-row">
          <Editor
            handle={editor}
            text={query}
            version={version}
            names={session.names}
            check={checkText}
            onChange={(text) => session.type(text)}
            onRun={() => session.run()}
          />
          <RunButton />
        </div>
        <QueryBar need={need} targets={targets} onOpen={open} />
        {isRunning && <div class="progress" aria-hidden="true" />}
      </form>
      {problem !== undefined && (
        <p class="problem" role="alert" id="problem">
          {problem.text}
        </p>
      )}
      <div class="workspace">
        <SidePanel />
        <section class="outcome" aria-label="Answer" aria-busy={isRunning}>
          {openedPlan === undefined && outcome.kind !== 'none' && <h2 class="visually-hidden">Answer</h2>}
          {openedPlan !== undefined ? (
            <OpenedPlanView opened={openedPlan} />
          ) : live !== undefined ? (
            <LiveView live={live} />
          ) : (
            <>
              {outcome.kind === 'none' &&
                (isRunning ? <p class="asking">Running the query …</p> : <Examples />)}
              {outcome.kind === 'failed' && (
                <Failure failed={outcome} onSelect={(start, end) => editor.current?.select(start, end)} />
              )}
              {outcome.kind === 'answered' && <Result answered={outcome} />}
            </>
          )}
        </section>
      </div>
      {dialog === 'history' && <HistoryDialog onClose={close} />}
    </section>
  );
}
