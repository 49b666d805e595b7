import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { formatCounted } from '../../model/format.js';
import type { tenantNeed } from '../../model/options.js';
import { emptyQuery, mostLines, type Field, type QueryState } from '../../model/query-state.js';
import { session } from '../../store/session.js';
import { useStore } from '../../store/store.js';
import { Popover } from './popover.js';

/** Tenant, limit and order, which are seldom changed. A chip names what differs from the defaults. */
export function QuerySettings({ need }: { readonly need: ReturnType<typeof tenantNeed> }): JSX.Element {
  const form = useStore(session.store, (state) => state.form);
  const problem = useStore(session.store, (state) => state.problem);
  const runningSince = useStore(session.store, (state) => state.runningSince);
  const [isOpen, open] = useState(false);
  useEffect(() => {
    if (problem?.field === 'limit' || (problem?.field === 'tenant' && need === 'optional')) open(true);
  }, [problem]);
  useEffect(() => {
    if (runningSince !== undefined) open(false);
  }, [runningSince]);
  const chips = changedSettings(form, need);
  return (
    <Popover
      title="Settings of the query"
      icon="settings"
      side="right"
      isOpen={isOpen}
      onToggle={open}
      caption={
        <>
          <span class="caption">Settings</span>
          {chips.length > 0 && <span class="chip">{chips.join(', ')}</span>}
        </>
      }
    >
      {need === 'optional' && <TenantField form={form} isRequired={false} />}
      <LimitField />
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
      <button type="button" class="button only-narrow" onClick={() => void session.format()}>
        Format the query
      </button>
    </Popover>
  );
}

/** The settings of a query that differ from the defaults, in words. */
function changedSettings(
  { tenant, limit, direction }: QueryState,
  need: ReturnType<typeof tenantNeed>,
): readonly string[] {
  return [
    ...(need === 'optional' && tenant !== '' ? [tenant] : []),
    ...(limit === emptyQuery.limit || Number.isNaN(limit) ? [] : [formatCounted(limit, 'line')]),
    ...(direction === emptyQuery.direction ? [] : ['oldest first']),
  ];
}

/** Focuses a field that has a problem; true while it has one. */
export function useProblem(field: Field, element: { readonly current: HTMLElement | null }): boolean {
  const problem = useStore(session.store, (state) => state.problem);
  const isWrong = problem?.field === field;
  useEffect(() => {
    if (isWrong) element.current?.focus();
  }, [problem]);
  return isWrong;
}

/** The tenant whose logs are asked for; where it is required it stands in the row of controls. */
export function TenantField({
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

function LimitField(): JSX.Element {
  const limit = useStore(session.store, (state) => state.form.limit);
  const field = useRef<HTMLInputElement>(null);
  const isWrong = useProblem('limit', field);
  const [text, setText] = useState(Number.isNaN(limit) ? '' : String(limit));
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
