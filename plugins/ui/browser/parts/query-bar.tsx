import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { formatElapsed, fromLocalField, toLocalField } from '../model/format.js';
import type { tenantNeed } from '../model/options.js';
import { mostLines, ranges, type Field, type QueryState, type RangeName } from '../model/query-state.js';
import { rangeTexts } from '../model/time-range.js';
import { layout } from '../store/layout.js';
import { session } from '../store/session.js';
import { useStore } from '../store/store.js';
import { useElapsed } from './header.js';
import { Icon, type IconName } from './icons.js';

/** The fields below the query (time range, limit, tenant), and its actions. */
export function QueryBar({
  need,
  onOpen,
}: {
  readonly need: ReturnType<typeof tenantNeed>;
  readonly onOpen: (dialog: 'history') => void;
}): JSX.Element {
  const form = useStore(session.store, (state) => state.form);
  const isLive = useStore(session.store, (state) => state.live !== undefined);
  return (
    <div class="controls">
      {need !== 'none' && <Tenant form={form} isRequired={need === 'required'} />}
      <label class="field">
        <span>Range</span>
        <select value={form.range} onChange={(event) => chooseRange(event.currentTarget.value, form)}>
          {ranges.map((range) => (
            <option key={range} value={range}>
              {rangeTexts[range]}
            </option>
          ))}
        </select>
      </label>
      {form.range === 'custom' && (
        <>
          <Moment label="From" iso={form.from} onChange={(from) => session.edit({ from })} />
          <Moment label="To" iso={form.to} onChange={(to) => session.edit({ to })} />
        </>
      )}
      <Limit />
      <label class="field">
        <span>Order</span>
        <select
          value={form.direction}
          onChange={(event) =>
            session.edit({ direction: event.currentTarget.value === 'forward' ? 'forward' : 'backward' })
          }
        >
          <option value="backward">newest first</option>
          <option value="forward">oldest first</option>
        </select>
      </label>
      <div class="actions">
        <Action
          icon="fields"
          text="Fields"
          title="Fields of the lines and their values"
          onClick={() => layout.toggle('fields')}
        />
        <Action
          icon="labels"
          text="Labels"
          title="Labels and their values"
          onClick={() => layout.toggle('labels')}
        />
        <Action
          icon="history"
          text="History"
          title="Queries that were run"
          onClick={() => onOpen('history')}
        />
        <Action icon="format" text="Format" title="Lay the query out" onClick={() => void session.format()} />
        <button
          type="button"
          class={isLive ? 'button is-live is-on' : 'button is-live'}
          aria-pressed={isLive}
          title="Lines as they come"
          onClick={() => (isLive ? session.endLive() : session.goLive())}
        >
          <Icon name="live" />
          <span>Live</span>
        </button>
        <RunButton />
      </div>
    </div>
  );
}

function Action({
  icon,
  text,
  title,
  onClick,
}: {
  readonly icon: IconName;
  readonly text: string;
  readonly title: string;
  readonly onClick: () => void;
}): JSX.Element {
  return (
    <button type="button" class="button is-quiet" title={title} onClick={onClick}>
      <Icon name={icon} />
      <span>{text}</span>
    </button>
  );
}

/** Runs the query; while it runs, shows the elapsed time and cancels it. */
function RunButton(): JSX.Element {
  const since = useStore(session.store, (state) => state.runningSince);
  const elapsed = useElapsed(since);
  if (since !== undefined)
    return (
      // A different element from Run, so that a click on it cannot submit the form.
      <button key="cancel" type="button" class="primary is-cancel" onClick={() => session.cancel()}>
        <Icon name="stop" />
        Cancel
        <span class="elapsed">{formatElapsed(elapsed)}</span>
      </button>
    );
  return (
    <button
      key="run"
      class="primary"
      type="submit"
      aria-keyshortcuts="Control+Enter Meta+Enter Shift+Enter"
      title={`${navigator.userAgent.includes('Mac') ? '⌘' : 'Ctrl'}+Enter`}
    >
      <Icon name="run" />
      Run
    </button>
  );
}

function chooseRange(name: string, form: QueryState): void {
  const range: RangeName = ranges.find((one) => one === name) ?? '1h';
  // A custom range starts as the last hour.
  const now = Date.now();
  const isFresh = range === 'custom' && form.from === '';
  const hour = { from: new Date(now - 3_600_000).toISOString(), to: new Date(now).toISOString() };
  session.edit({ range, ...(isFresh ? hour : {}) });
}

/** Focuses a field that has a problem; true while it has one. */
function useProblem(field: Field, element: { readonly current: HTMLElement | null }): boolean {
  const problem = useStore(session.store, (state) => state.problem);
  const isWrong = problem?.field === field;
  useEffect(() => {
    if (isWrong) element.current?.focus();
  }, [problem]);
  return isWrong;
}

function Tenant({
  form,
  isRequired,
}: {
  readonly form: QueryState;
  readonly isRequired: boolean;
}): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  const isWrong = useProblem('tenant', field);
  return (
    <label class={isWrong ? 'field tenant is-wrong' : 'field tenant'}>
      <span>Tenant</span>
      <input
        ref={field}
        type="text"
        aria-required={isRequired}
        aria-invalid={isWrong}
        aria-describedby={isWrong ? 'problem' : undefined}
        placeholder={isRequired ? 'required' : 'none'}
        title="X-Scope-OrgID: whose logs are asked for"
        autocomplete="off"
        spellcheck={false}
        value={form.tenant}
        onInput={(event) => session.edit({ tenant: event.currentTarget.value })}
      />
    </label>
  );
}

function Limit(): JSX.Element {
  const limit = useStore(session.store, (state) => state.form.limit);
  const field = useRef<HTMLInputElement>(null);
  const isWrong = useProblem('limit', field);
  const [text, setText] = useState(String(limit));
  useEffect(() => {
    if (!Object.is(limit, numberOf(text)) && !Number.isNaN(limit)) setText(String(limit));
  }, [limit]);
  return (
    <label class={isWrong ? 'field is-wrong' : 'field'}>
      <span>Limit</span>
      <input
        ref={field}
        class="limit"
        type="text"
        inputMode="numeric"
        aria-invalid={isWrong}
        aria-describedby={isWrong ? 'problem' : undefined}
        title={`Lines at once, up to ${mostLines}`}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          session.edit({ limit: numberOf(event.currentTarget.value) });
        }}
      />
    </label>
  );
}

function numberOf(text: string): number {
  return text.trim() === '' ? NaN : Number(text);
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
  const zone = useStore(session.store, (state) => state.settings.zone);
  return (
    <label class="field moment">
      <span>{label}</span>
      <input
        type="datetime-local"
        step={1}
        value={toLocalField(iso, zone)}
        onChange={(event) => onChange(fromLocalField(event.currentTarget.value, zone))}
      />
    </label>
  );
}
