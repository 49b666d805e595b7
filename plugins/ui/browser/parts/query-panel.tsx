import type { JSX } from 'preact';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { tenantNeed } from '../model/options.js';
import { parseHash, printHash, type QueryState } from '../model/query-state.js';
import type { TimeRange } from '../model/time-range.js';
import type { LoadedPipeline } from '../model/wire.js';
import { useQuery } from '../use-query.js';
import { Examples } from './examples.js';
import { Failure } from './failure.js';
import { QueryForm } from './query-form.js';
import { Result, summaryOf } from './result.js';

interface Properties {
  readonly pipeline: LoadedPipeline;
  /** Called when a query has ended: the figures of the pipeline are then new. */
  readonly onDone: () => void;
}

/** The query box and what came of it. The address of the page holds the query, so that it can be passed on. */
export function QueryPanel({ pipeline, onDone }: Properties): JSX.Element {
  const [state, setState] = useState(() => parseHash(location.hash));
  const { outcome, isRunning, run } = useQuery(onDone);
  const box = useRef<HTMLTextAreaElement>(null);
  const need = tenantNeed(pipeline);

  const submit = useCallback(
    (next: QueryState) => {
      setState(next);
      const hash = `#${printHash(next)}`;
      if (hash !== location.hash) history.pushState(null, '', hash);
      run(next);
    },
    [run],
  );
  useEffect(() => {
    const follow = (): void => {
      const next = parseHash(location.hash);
      setState(next);
      if (next.query !== '') run(next);
    };
    follow();
    addEventListener('popstate', follow);
    return () => removeEventListener('popstate', follow);
  }, [run]);
  const select = (start: number, end: number): void => {
    box.current?.focus();
    box.current?.setSelectionRange(start, end);
  };

  const zoom = ({ startMs, endMs }: TimeRange): void =>
    submit({
      ...state,
      range: 'custom',
      from: new Date(startMs).toISOString(),
      to: new Date(endMs).toISOString(),
    });

  return (
    <section class="query" aria-labelledby="query-title">
      <div class="section-head">
        <h2 id="query-title">Query</h2>
        <p class="quiet">LogQL, through the stages above.</p>
      </div>
      <p class="visually-hidden" role="status">
        {outcome.kind === 'answered' && !isRunning ? summaryOf(outcome).join(', ') : ''}
      </p>
      <QueryForm
        state={state}
        need={need}
        isRunning={isRunning}
        box={box}
        onChange={setState}
        onRun={submit}
      />
      <div class={isRunning ? 'outcome is-running' : 'outcome'} aria-busy={isRunning}>
        {outcome.kind === 'none' && <Examples onPick={(query) => submit({ ...state, query })} />}
        {outcome.kind === 'failed' && <Failure text={outcome.text} query={outcome.query} onSelect={select} />}
        {outcome.kind === 'answered' && <Result answered={outcome} onZoom={zoom} />}
      </div>
    </section>
  );
}
