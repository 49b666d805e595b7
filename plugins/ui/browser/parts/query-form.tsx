import type { JSX, RefObject } from 'preact';
import { fromLocalField, toLocalField } from '../model/format.js';
import { ranges, type QueryState } from '../model/query-state.js';
import type { tenantNeed } from '../model/options.js';

interface Properties {
  readonly state: QueryState;
  readonly need: ReturnType<typeof tenantNeed>;
  readonly isRunning: boolean;
  readonly box: RefObject<HTMLTextAreaElement | null>;
  readonly onChange: (state: QueryState) => void;
  readonly onRun: (state: QueryState) => void;
}

const mostRows = 8;

/** The query box with its range, limit, direction and tenant. Ctrl+Enter or Cmd+Enter runs from anywhere inside. */
export function QueryForm({ state, need, isRunning, box, onChange, onRun }: Properties): JSX.Element {
  const change = (part: Partial<QueryState>): void => onChange({ ...state, ...part });
  const submit = (event: Event): void => {
    event.preventDefault();
    if (state.query.trim() !== '') onRun(state);
  };
  const runByKeys = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit(event);
  };
  return (
    <form class="panel query-form" onSubmit={submit} onKeyDown={runByKeys}>
      <label class="visually-hidden" for="query">
        LogQL query
      </label>
      <textarea
        id="query"
        ref={box}
        rows={Math.min(mostRows, Math.max(2, state.query.split('\n').length))}
        value={state.query}
        placeholder={'{service_name=~".+"} |= "error"'}
        spellcheck={false}
        autocapitalize="off"
        autocomplete="off"
        onInput={(event) => change({ query: event.currentTarget.value })}
      />
      <div class="controls">
        <RangeChoice state={state} onChange={change} />
        <label class="field">
          <span>Limit</span>
          <input
            class="number"
            type="number"
            min={1}
            max={5000}
            value={state.limit}
            onInput={(event) =>
              change({ limit: Math.max(1, Math.trunc(event.currentTarget.valueAsNumber) || 1) })
            }
          />
        </label>
        <label class="field">
          <span>Order</span>
          <select
            value={state.direction}
            onChange={(event) =>
              change({ direction: event.currentTarget.value === 'forward' ? 'forward' : 'backward' })
            }
          >
            <option value="backward">newest first</option>
            <option value="forward">oldest first</option>
          </select>
        </label>
        {need !== 'none' && (
          <label class="field tenant">
            <span>Tenant</span>
            <input
              type="text"
              required={need === 'required'}
              placeholder={need === 'required' ? 'required' : 'none'}
              value={state.tenant}
              onInput={(event) => change({ tenant: event.currentTarget.value })}
            />
          </label>
        )}
        <button class="primary" type="submit" aria-keyshortcuts="Control+Enter Meta+Enter">
          {isRunning ? 'Running' : 'Run'}
          <kbd aria-hidden="true">{isMac() ? '⌘' : 'Ctrl'} ↵</kbd>
        </button>
      </div>
    </form>
  );
}

function RangeChoice({
  state,
  onChange,
}: {
  readonly state: QueryState;
  readonly onChange: (part: Partial<QueryState>) => void;
}): JSX.Element {
  const choose = (range: QueryState['range']): void => {
    // A custom range begins as the last hour, to be moved.
    const now = Date.now();
    const isFresh = range === 'custom' && state.from === '';
    const hour = { from: new Date(now - 3_600_000).toISOString(), to: new Date(now).toISOString() };
    onChange({ range, ...(isFresh ? hour : {}) });
  };
  return (
    <div class="range">
      <fieldset class="segments">
        <legend>Range</legend>
        {ranges.map((range) => (
          <label key={range}>
            <input
              type="radio"
              name="range"
              value={range}
              checked={state.range === range}
              onChange={() => choose(range)}
            />
            <span>{range}</span>
          </label>
        ))}
      </fieldset>
      {state.range === 'custom' && (
        <>
          <Moment label="From" iso={state.from} onChange={(from) => onChange({ from })} />
          <Moment label="To" iso={state.to} onChange={(to) => onChange({ to })} />
        </>
      )}
    </div>
  );
}

function Moment({
  label,
  iso,
  onChange,
}: {
  readonly label: string;
  readonly iso: string;
  readonly onChange: (iso: string) => void;
}): JSX.Element {
  return (
    <label class="field">
      <span>{label}</span>
      <input
        type="datetime-local"
        step={1}
        value={toLocalField(iso)}
        onChange={(event) => onChange(fromLocalField(event.currentTarget.value))}
      />
    </label>
  );
}

function isMac(): boolean {
  return navigator.userAgent.includes('Mac');
}
