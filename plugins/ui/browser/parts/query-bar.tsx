import type { JSX } from 'preact';
import type { tenantNeed } from '../model/options.js';
import type { ShareTargets } from '../model/query/share.js';
import { layout } from '../store/layout.js';
import { session } from '../store/session.js';
import { useStore } from '../store/store.js';
import { Icon, type IconName } from './icons.js';
import { QuerySettings, TenantField } from './query/query-settings.js';
import { ShareMenu } from './query/share-menu.js';
import { TimePicker } from './query/time-picker.js';

/** The row below the query: its time range, a required tenant, its settings, and actions. */
export function QueryBar({
  need,
  targets,
  onOpen,
}: {
  readonly need: ReturnType<typeof tenantNeed>;
  readonly targets: ShareTargets;
  readonly onOpen: (dialog: 'history') => void;
}): JSX.Element {
  const form = useStore(session.store, (state) => state.form);
  const isLive = useStore(session.store, (state) => state.live !== undefined);
  return (
    <div class="controls">
      <TimePicker />
      {need === 'required' && <TenantField form={form} isRequired />}
      <button
        type="button"
        class={isLive ? 'button is-quiet is-live is-on' : 'button is-quiet is-live'}
        aria-pressed={isLive}
        title="Lines as they arrive  l"
        onClick={() => (isLive ? session.live.end() : session.goLive())}
      >
        <Icon name="live" />
        <span class="caption">Live</span>
      </button>
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
          title="Queries that were run or saved"
          onClick={() => onOpen('history')}
        />
        <Action
          icon="format"
          text="Format"
          title="Format the query"
          look="only-wide"
          onClick={() => void session.format()}
        />
        <ShareMenu targets={targets} />
        <QuerySettings need={need} />
      </div>
    </div>
  );
}

function Action({
  icon,
  text,
  title,
  look = '',
  onClick,
}: {
  readonly icon: IconName;
  readonly text: string;
  readonly title: string;
  readonly look?: string;
  readonly onClick: () => void;
}): JSX.Element {
  return (
    <button type="button" class={`button is-quiet ${look}`} title={title} onClick={onClick}>
      <Icon name={icon} />
      <span class="caption">{text}</span>
    </button>
  );
}
