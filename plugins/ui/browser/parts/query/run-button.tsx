import type { JSX } from 'preact';
import { formatElapsed } from '../../model/format.js';
import { session } from '../../store/session.js';
import { useStore } from '../../store/store.js';
import { useElapsed } from '../header.js';
import { Icon } from '../icons.js';

/** Runs the query; while it runs, shows the elapsed time and cancels it. */
export function RunButton(): JSX.Element {
  const since = useStore(session.store, (state) => state.runningSince);
  const elapsed = useElapsed(since);
  if (since !== undefined)
    return (
      // A different element from Run, so that a click on it cannot submit the form.
      <button key="cancel" type="button" class="primary run is-cancel" onClick={() => session.cancel()}>
        <Icon name="stop" />
        <span class="run-text">Cancel</span>
        <span class="elapsed">{formatElapsed(elapsed)}</span>
      </button>
    );
  return (
    <button
      key="run"
      class="primary run"
      type="submit"
      aria-keyshortcuts="Control+Enter Meta+Enter Shift+Enter"
      title={`${navigator.userAgent.includes('Mac') ? '⌘' : 'Ctrl'}+Enter`}
    >
      <Icon name="run" />
      <span class="run-text">Run</span>
    </button>
  );
}
