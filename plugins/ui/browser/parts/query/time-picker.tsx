import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { rangeLabel, rangeOf, rangeTexts, shortRangeLabel } from '../../model/query/asked-range.js';
import { formatMoment, fromLocalField, toLocalField } from '../../model/format.js';
import { ranges, refreshes, type QueryState, type RefreshName } from '../../model/query-state.js';
import {
  parseRangeText,
  parseTimeText,
  storedTimeText,
  type RangeText,
} from '../../model/query/time-text.js';
import type { Zone } from '../../model/settings.js';
import { session } from '../../store/session.js';
import { useStore } from '../../store/store.js';
import { useNarrow } from '../../use-narrow.js';
import { Icon } from '../icons.js';
import { Popover } from './popover.js';

const refreshTexts: Readonly<Record<RefreshName, string>> = {
  off: 'off',
  '5s': 'every 5 s',
  '10s': 'every 10 s',
  '30s': 'every 30 s',
  '1m': 'every minute',
  '5m': 'every 5 minutes',
};

/** The time range of the query: a button that names it, and the panel that changes it. */
export function TimePicker(): JSX.Element {
  const form = useStore(session.store, (state) => state.form);
  const zone = useStore(session.store, (state) => state.settings.zone);
  const problem = useStore(session.store, (state) => state.problem);
  const isNarrow = useNarrow();
  const [isOpen, open] = useState(false);
  useEffect(() => {
    if (problem?.field === 'range') open(true);
  }, [problem]);
  const label = rangeLabel(form, zone);
  return (
    <div class="time">
      <Popover
        title={`Time range: ${label}`}
        icon="clock"
        look="time-button"
        isTold={!isNarrow}
        isOpen={isOpen}
        onToggle={open}
        caption={
          <>
            <span class="visually-hidden">Time range: </span>
            <span class="time-label">{isNarrow ? shortRangeLabel(form) : label}</span>
            {form.refresh !== 'off' && <span class="chip">{form.refresh}</span>}
          </>
        }
      >
        <ul class="quick-ranges" aria-label="Quick ranges">
          {ranges
            .filter((name) => name !== 'custom')
            .map((name) => (
              <li key={name}>
                <button
                  type="button"
                  aria-pressed={form.range === name}
                  onClick={() => {
                    open(false);
                    session.setRange({ range: name, from: '', to: '' });
                  }}
                >
                  {rangeTexts[name]}
                </button>
              </li>
            ))}
        </ul>
        <TwoTimes
          key={JSON.stringify([form.range, form.from, form.to, zone])}
          {...{ form, zone }}
          onDone={() => open(false)}
        />
        <div class="time-moves">
          <Moves />
          <label class="field">
            <span>Refresh</span>
            <select
              value={form.refresh}
              onChange={(event) => {
                const chosen = refreshes.find((name) => name === event.currentTarget.value);
                session.setRefresh(chosen ?? 'off');
              }}
            >
              {refreshes.map((name) => (
                <option key={name} value={name}>
                  {refreshTexts[name]}
                </option>
              ))}
            </select>
          </label>
        </div>
      </Popover>
    </div>
  );
}

/** Buttons that shift the range and widen it. */
function Moves(): JSX.Element {
  return (
    <div class="moves" role="group" aria-label="Move the range">
      <button type="button" class="button" title="Half a range earlier  [" onClick={() => session.shift(-1)}>
        <Icon name="left" />
        <span>Earlier</span>
      </button>
      <button type="button" class="button" title="Twice the range  z" onClick={() => session.zoomOut()}>
        <Icon name="zoomOut" />
        <span>Zoom out</span>
      </button>
      <button type="button" class="button" title="Half a range later  ]" onClick={() => session.shift(1)}>
        <span>Later</span>
        <Icon name="chevron" />
      </button>
    </div>
  );
}

interface TwoTimesProps {
  readonly form: Pick<QueryState, 'range' | 'from' | 'to'>;
  readonly zone: Zone;
  readonly onDone: () => void;
}

/** Two fields that take any text of a time, each with a calendar. They begin with the range of the form. */
function TwoTimes({ form, zone, onDone }: TwoTimesProps): JSX.Element {
  const [texts, write] = useState<RangeText>(() => textsOf(form, zone));
  const range = rangeOf({ range: 'custom', ...texts }, Date.now(), zone);
  const apply = (): void => {
    if (typeof range === 'string') return;
    onDone();
    session.setRange({
      range: 'custom',
      from: storedTimeText(texts.from, zone),
      to: storedTimeText(texts.to, zone),
    });
  };
  const field = (edge: keyof RangeText, title: string): JSX.Element => {
    const ms = parseTimeText(texts[edge], { nowMs: Date.now(), zone, isEnd: edge === 'to' });
    return (
      <div class="time-field">
        <label class={ms === undefined ? 'field is-wrong' : 'field'}>
          <span>{title}</span>
          <input
            type="text"
            value={texts[edge]}
            maxLength={64}
            autocomplete="off"
            spellcheck={false}
            aria-invalid={ms === undefined}
            onInput={(event) => write({ ...texts, [edge]: event.currentTarget.value })}
            onPaste={(event) => {
              const pasted = parseRangeText(event.clipboardData?.getData('text') ?? '');
              if (pasted === undefined) return;
              event.preventDefault();
              write(pasted);
            }}
          />
        </label>
        <input
          class="calendar"
          type="datetime-local"
          step={1}
          aria-label={`${title}, from a calendar`}
          value={ms === undefined ? '' : toLocalField(new Date(ms).toISOString(), zone)}
          onChange={(event) => {
            const iso = fromLocalField(event.currentTarget.value, zone);
            if (iso !== '') write({ ...texts, [edge]: formatMoment(Date.parse(iso), zone) });
          }}
        />
      </div>
    );
  };
  return (
    <div
      class="two-times"
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || event.ctrlKey || event.metaKey) return;
        if (!(event.target instanceof HTMLInputElement)) return;
        event.preventDefault();
        apply();
      }}
    >
      {field('from', 'From')}
      {field('to', 'To')}
      <p class={typeof range === 'string' ? 'quiet alert' : 'quiet'} role="status">
        {typeof range === 'string'
          ? range
          : 'now-2h, now/d, 2026-01-31 12:00, Unix time, or a range pasted from Grafana'}
      </p>
      <button type="button" class="primary" disabled={typeof range === 'string'} onClick={apply}>
        Apply range
      </button>
    </div>
  );
}

/** The range of the form as a person would write it. */
function textsOf({ range, from, to }: TwoTimesProps['form'], zone: Zone): RangeText {
  const show = (text: string): string => {
    const ms = /^now/.test(text) ? NaN : Date.parse(text);
    return Number.isNaN(ms) ? text : formatMoment(ms, zone);
  };
  return range === 'custom' ? { from: show(from), to: show(to) } : { from: `now-${range}`, to: 'now' };
}
