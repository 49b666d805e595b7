import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { zoneName, type Theme } from '../model/settings.js';
import type { LoadedPipeline } from '../model/wire.js';
import { session } from '../store/session.js';
import { useStore } from '../store/store.js';
import { useNarrow } from '../use-narrow.js';
import { IconButton } from './icon-button.js';

/** The bar at the top: the two views, the state of the process, time zone and theme. */
export function Header({
  pipeline,
  problem,
  onHelp,
}: {
  readonly pipeline: LoadedPipeline | undefined;
  readonly problem: string | undefined;
  /** Opens the list of shortcuts. */
  readonly onHelp: () => void;
}): JSX.Element {
  const view = useStore(session.store, (state) => state.view);
  return (
    <header class="header">
      {pipeline !== undefined && (
        <button type="button" class="skip" onClick={goToQuery}>
          Go to the query
        </button>
      )}
      <h1 class="wordmark">
        <svg class="mark" viewBox="0 0 36 12" aria-hidden="true">
          <path d="M4 6h28" />
          <circle cx="6" cy="6" r="3.5" />
          <circle class="open" cx="18" cy="6" r="3.5" />
          <circle cx="30" cy="6" r="3.5" />
        </svg>
        <span>ref-proxy</span>
      </h1>
      {pipeline !== undefined && (
        <nav class="views" aria-label="Views">
          {(['query', 'pipeline'] as const).map((name) => (
            <button
              key={name}
              type="button"
              aria-current={view === name ? 'page' : undefined}
              onClick={() => session.show(name)}
            >
              {name === 'query' ? 'Query' : 'Pipeline'}
            </button>
          ))}
        </nav>
      )}
      <div class="header-end">
        {pipeline !== undefined && <Health notReady={pipeline.notReady} problem={problem} />}
        <ZoneChoice />
        <ThemeChoice />
        <IconButton icon="help" name="Keyboard shortcuts" title="Keyboard shortcuts  ?" onClick={onHelp} />
      </div>
    </header>
  );
}

/** Shows the view Query with the cursor in its editor. */
export function goToQuery(): void {
  session.show('query');
  requestAnimationFrame(() => {
    const editor = document.getElementById('query')?.shadowRoot?.querySelector('.cm-content');
    if (editor instanceof HTMLElement) editor.focus();
  });
}

function Health({
  notReady,
  problem,
}: {
  readonly notReady: readonly string[];
  readonly problem: string | undefined;
}): JSX.Element {
  const isWell = problem === undefined && notReady.length === 0;
  const text = problem ?? (isWell ? 'ready' : `not ready: ${notReady.join('; ')}`);
  return (
    <span class={isWell ? 'health' : 'health is-ill'} role="status" title={text}>
      <span>{text}</span>
    </span>
  );
}

function ZoneChoice(): JSX.Element {
  const zone = useStore(session.store, (state) => state.settings.zone);
  const isNarrow = useNarrow();
  const name = zoneName('browser', Date.now());
  return (
    <label class="zone">
      <span class="visually-hidden">Time zone</span>
      <select
        title="The zone of all times on this page"
        value={zone}
        onChange={(event) => session.set({ zone: event.currentTarget.value === 'utc' ? 'utc' : 'browser' })}
      >
        <option value="browser">{isNarrow ? name : `${name} (browser)`}</option>
        <option value="utc">UTC</option>
      </select>
    </label>
  );
}

const themes: Readonly<Record<Theme, { readonly next: Theme; readonly text: string }>> = {
  system: { next: 'light', text: 'Colours as the system has them' },
  light: { next: 'dark', text: 'Light colours' },
  dark: { next: 'system', text: 'Dark colours' },
};

function ThemeChoice(): JSX.Element {
  const theme = useStore(session.store, (state) => state.settings.theme);
  const { next, text } = themes[theme];
  return (
    <IconButton
      icon={theme}
      name={`${text}. Change.`}
      title={text}
      onClick={() => session.set({ theme: next })}
    />
  );
}

/** Milliseconds since a time, updated several times a second. */
export function useElapsed(since: number | undefined): number {
  const [now, setNow] = useState(0);
  useEffect(() => {
    if (since === undefined) return undefined;
    const timer = setInterval(() => setNow(performance.now()), 100);
    return () => clearInterval(timer);
  }, [since]);
  return since === undefined ? 0 : Math.max(0, now - since);
}
