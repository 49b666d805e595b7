import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { rangeOf } from '../../model/query/asked-range.js';
import { printHash, type QueryState } from '../../model/query-state.js';
import { curlCommand, exploreUrl, logcliCommand, type ShareTargets } from '../../model/query/share.js';
import { nsRange, type TimeRange } from '../../model/time-range.js';
import { session } from '../../store/session.js';
import { useStore } from '../../store/store.js';
import { CopyButton } from '../copy-button.js';
import { Icon } from '../icons.js';
import { Popover } from './popover.js';

/** Passes the query on: as a link, as a command, or to Grafana. */
export function ShareMenu({ targets }: { readonly targets: ShareTargets }): JSX.Element {
  const [isOpen, open] = useState(false);
  return (
    <Popover
      title="Share the query"
      icon="share"
      side="right"
      isOpen={isOpen}
      onToggle={open}
      caption={<span class="caption">Share</span>}
    >
      <Ways targets={targets} />
    </Popover>
  );
}

function Ways({ targets: { api, grafana } }: { readonly targets: ShareTargets }): JSX.Element {
  const form = useStore(session.store, (state) => state.form);
  const zone = useStore(session.store, (state) => state.settings.zone);
  const range = rangeOf(form, Date.now(), zone);
  if (form.query.trim() === '') return <p class="quiet">Write a query first.</p>;
  if (typeof range === 'string') return <p class="quiet">{range}</p>;
  const limit = Number.isInteger(form.limit) ? form.limit : 100;
  const asked = { ...form, limit };
  const fixed: QueryState = {
    ...asked,
    range: 'custom',
    from: new Date(range.startMs).toISOString(),
    to: new Date(range.endMs).toISOString(),
  };
  const isMoving = form.range !== 'custom' || /^now/.test(form.from) || /^now/.test(form.to);
  return (
    <ul class="share">
      <li>
        <CopyButton text={linkOf(asked)} label="Copy a link to this page" short="Copy link" />
        <p class="quiet">
          {isMoving ? 'The same length of time, up to when it is opened.' : 'The query with its times.'}
        </p>
      </li>
      {isMoving && (
        <li>
          <CopyButton
            text={linkOf(fixed)}
            label="Copy a link with fixed times"
            short="Copy link with these times"
          />
          <p class="quiet">For an incident: everyone sees the same lines.</p>
        </li>
      )}
      <li>
        <CopyButton
          text={curlCommand(asked, nsRange(range), api)}
          label="Copy as curl"
          short="Copy as curl"
        />
        <CopyButton
          text={logcliCommand(asked, nsRange(range), api)}
          label="Copy as logcli"
          short="Copy as logcli"
        />
      </li>
      <li>
        {grafana === undefined ? (
          <p class="quiet">
            Open in Grafana: set <code>-ui.grafana-url</code> and <code>-ui.grafana-datasource-uid</code>.
          </p>
        ) : (
          <a
            class="button"
            target="_blank"
            rel="noopener noreferrer"
            href={exploreUrl(asked, grafanaRange(form, range), grafana)}
          >
            <Icon name="outside" />
            <span>Open in Grafana</span>
          </a>
        )}
      </li>
    </ul>
  );
}

function linkOf(state: QueryState): string {
  return `${location.origin}${location.pathname}#${printHash(state)}`;
}

/** A range as Grafana writes it: relative to now, or Unix milliseconds. */
function grafanaRange(
  form: QueryState,
  { startMs, endMs }: TimeRange,
): { readonly from: string; readonly to: string } {
  if (form.range !== 'custom') return { from: `now-${form.range}`, to: 'now' };
  const written = (text: string, ms: number): string => (/^now/.test(text) ? text : String(Math.round(ms)));
  return { from: written(form.from, startMs), to: written(form.to, endMs) };
}
