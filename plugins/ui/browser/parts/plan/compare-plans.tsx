import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { failureText } from '../../api.js';
import { pastOf } from '../../model/history.js';
import { compareFlows } from '../../model/plan-compare.js';
import { flowOf, type Flow } from '../../model/plan-flow.js';
import type { Answered } from '../../store/answers.js';
import { planBeside, type QueryPlan } from '../../store/plan-runs.js';
import { session } from '../../store/session.js';
import { useStore } from '../../store/store.js';
import { FlowPicture, type FlowEnd } from './flow-picture.js';

interface Properties {
  readonly answered: Answered;
  readonly flow: Flow;
  readonly end: FlowEnd;
  readonly missing: string;
}

/** The plan of the query beside that of another one, which is run over the same range. */
export function ComparePlans({ answered, flow, end, missing }: Properties): JSX.Element {
  const [text, write] = useState('');
  const [other, setOther] = useState<QueryPlan | 'running' | { readonly failed: string }>();
  const running = useRef<AbortController>(undefined);
  const field = useRef<HTMLTextAreaElement>(null);
  const past = useStore(session.store, (state) => state.past);
  const choices = pastOf(past, answered.asked.tenant).filter(({ query }) => query !== answered.asked.query);
  // Before the next key is pressed.
  useLayoutEffect(() => field.current?.focus(), []);
  useEffect(() => () => running.current?.abort(), []);
  const run = (query: string): void => {
    running.current?.abort();
    if (query.trim() === '') return;
    const controller = new AbortController();
    running.current = controller;
    setOther('running');
    const show = (result: QueryPlan | { readonly failed: string }): void => {
      if (running.current === controller) setOther(result);
    };
    planBeside(query, answered, controller.signal).then(show, (error: unknown) =>
      show({ failed: failureText(error) }),
    );
  };
  return (
    <div class="compare">
      <form
        class="compare-form"
        onSubmit={(event) => {
          event.preventDefault();
          run(text);
        }}
      >
        <label>
          <span class="minor">Other query, over the same range</span>
          <textarea
            ref={field}
            rows={2}
            spellcheck={false}
            placeholder={'{service_name="checkout"} |= "error"'}
            value={text}
            onInput={(event) => write(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || event.shiftKey) return;
              event.preventDefault();
              // The state may be one key behind.
              run(event.currentTarget.value);
            }}
          />
        </label>
        <div class="compare-actions">
          {choices.length > 0 && (
            <select
              aria-label="From the history"
              value=""
              onChange={(event) => {
                const { value } = event.currentTarget;
                write(value);
                run(value);
              }}
            >
              <option value="">From the history …</option>
              {choices.map(({ query }) => (
                <option key={query} value={query}>
                  {query.length > 80 ? `${query.slice(0, 80)}…` : query}
                </option>
              ))}
            </select>
          )}
          <button type="submit" class="button" disabled={text.trim() === ''}>
            Run and compare
          </button>
        </div>
      </form>
      <p class="visually-hidden" role="status">
        {other === 'running' ? 'Running the other query' : other === undefined ? '' : 'Compared'}
      </p>
      {other !== undefined && other !== 'running' && 'failed' in other && (
        <p class="notice" role="alert">
          {other.failed}
        </p>
      )}
      {other === 'running' && <p class="asking">Running the other query …</p>}
      {other !== undefined && other !== 'running' && 'explanation' in other ? (
        <SideBySide answered={answered} flow={flow} end={end} missing={missing} other={other} />
      ) : (
        <FlowPicture flow={flow} end={end} missing={missing} />
      )}
    </div>
  );
}

function SideBySide({
  answered,
  flow,
  end,
  missing,
  other,
}: Properties & { readonly other: QueryPlan }): JSX.Element {
  const second = flowOf(other.explanation, other.report, answered.asked.limit);
  const figures = compareFlows(flow, second);
  return (
    <>
      <div class="cost-scroll" tabIndex={0} role="region" aria-label="Differences of the two plans">
        <table class="cost compared">
          <thead>
            <tr>
              <th scope="col">Difference</th>
              <th scope="col" class="number">
                This query
              </th>
              <th scope="col" class="number">
                Other query
              </th>
              <th scope="col" class="number">
                Change
              </th>
            </tr>
          </thead>
          <tbody>
            {figures.map(({ name, first, second: value, change, less }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td class={less === 'first' ? 'number is-less' : 'number'}>{first}</td>
                <td class={less === 'second' ? 'number is-less' : 'number'}>{value}</td>
                <td class="number">{change}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div class="plans-beside">
        <section aria-label="This query">
          <h3>This query</h3>
          <p>
            <code>{answered.asked.query}</code>
          </p>
          <FlowPicture flow={flow} end={end} missing={missing} />
        </section>
        <section aria-label="Other query">
          <h3>Other query</h3>
          <p>
            <code>{other.query}</code>{' '}
            <button type="button" class="button" onClick={() => session.run({ query: other.query })}>
              Use this one
            </button>
          </p>
          <FlowPicture flow={second} end={{ text: other.answer }} missing="No figures of this run" />
        </section>
      </div>
    </>
  );
}
