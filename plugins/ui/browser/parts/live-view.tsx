import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { formatCounted, formatShort } from '../model/format.js';
import { markerOf } from '../model/match-marks.js';
import type { LiveState } from '../store/live-tail.js';
import { session } from '../store/session.js';
import { Icon } from './icons.js';
import { LogList } from './log-list.js';

/** Incoming lines, newest first; pausing freezes them. */
export function LiveView({ live }: { readonly live: LiveState }): JSX.Element {
  const marker = useMemo(() => markerOf([]), []);
  const { rows, count, perSecond, isPaused, problem, isOverrun } = live;
  const range = useMemo(() => ({ startMs: 0, endMs: 0 }), []);
  return (
    <>
      <div class="result-head">
        <p class={isPaused ? 'live-state' : 'live-state is-live'} role="status">
          <span class="live-dot" aria-hidden="true" />
          {isPaused ? 'Paused' : 'Live'}
        </p>
        <p class="summary-line">
          <span>{formatCounted(count, 'line')}</span>
          {!isPaused && <span>{formatShort(perSecond)} per second</span>}
          {count > rows.length && <span>the newest {rows.length} are shown</span>}
          {isOverrun && <span>more arrive than can be shown</span>}
        </p>
        <button
          type="button"
          class="button"
          onClick={() => (isPaused ? session.resumeLive() : session.pauseLive())}
        >
          <Icon name={isPaused ? 'run' : 'pause'} />
          <span>{isPaused ? 'Resume' : 'Pause'}</span>
        </button>
        <button type="button" class="button" onClick={() => session.endLive()}>
          <Icon name="stop" />
          <span>End</span>
        </button>
      </div>
      {problem !== undefined && (
        <p class="notice" role="alert">
          {problem}
        </p>
      )}
      {rows.length === 0 ? (
        <p class="panel empty">
          {isPaused
            ? 'Paused before a line arrived.'
            : 'Waiting for lines of this query. New ones appear by themselves.'}
        </p>
      ) : (
        <LogList rows={rows} range={range} marker={marker} />
      )}
    </>
  );
}
