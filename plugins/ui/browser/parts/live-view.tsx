import type { JSX } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import { formatCount, formatCounted, formatShort } from '../model/format.js';
import type { Level } from '../model/levels.js';
import { markerOf } from '../model/match-marks.js';
import type { LiveState } from '../store/live-tail.js';
import { session } from '../store/session.js';
import { useStore } from '../store/store.js';
import { HistogramChart } from './histogram-chart.js';
import { Icon } from './icons.js';
import { useLiveEdge } from './lines/use-live-edge.js';
import { LogList } from './log-list.js';

/** Lines without a range of their own. */
const noRange = { startMs: 0, endMs: 0 };
const stateTexts: Readonly<Record<LiveState['way'], string>> = {
  opening: 'Opening',
  tail: 'Live',
  lost: 'Connection lost',
  polls: 'Live',
};

/** Incoming lines below their histogram; pausing, and scrolling away from the newest, hold them still. */
export function LiveView({ live }: { readonly live: LiveState }): JSX.Element {
  const { isPaused, isReading, waiting, histogram, problem, way } = live;
  const isNewestLast = useStore(session.store, (state) => state.settings.newestLast);
  const [hidden, hide] = useState<ReadonlySet<Level>>(new Set());
  const marker = useMemo(() => markerOf([]), []);
  const rows = useMemo(() => {
    const shown = hidden.size === 0 ? live.rows : live.rows.filter(({ level }) => !hidden.has(level));
    return isNewestLast ? shown.toReversed() : shown;
  }, [live.rows, hidden, isNewestLast]);
  const body = useRef<HTMLDivElement>(null);
  const goToEdge = useLiveEdge(body, isNewestLast, isPaused || isReading, (isAway) =>
    session.live.hold(isAway),
  );
  return (
    <div ref={body} class="outcome-body">
      <div class="live-bar">
        <LiveHead live={live} isNewestLast={isNewestLast} />
        {way === 'lost' && (
          <p class="notice" role="status">
            The connection is lost and will be opened again. Lines of the meantime are read then.
          </p>
        )}
        {problem !== undefined && (
          <p class="notice" role="alert">
            {problem}
          </p>
        )}
        <HistogramChart
          histogram={histogram}
          range={noRange}
          hidden={hidden}
          onHide={hide}
          onZoom={(part) => session.zoom(part)}
        />
      </div>
      {rows.length === 0 ? (
        <p class="panel empty">
          {isPaused
            ? 'Paused before a line arrived.'
            : 'Waiting for lines of this query. New ones appear by themselves.'}
        </p>
      ) : (
        <LogList rows={rows} range={noRange} marker={marker} />
      )}
      {isReading && !isPaused && waiting > 0 && (
        <button type="button" class="button new-lines" onClick={goToEdge}>
          {formatCounted(waiting, 'new line')}
        </button>
      )}
    </div>
  );
}

function LiveHead({
  live,
  isNewestLast,
}: {
  readonly live: LiveState;
  readonly isNewestLast: boolean;
}): JSX.Element {
  const { rows, waiting, count, perSecond, isPaused, isOverrun, dropped, way } = live;
  const isLive = !isPaused && (way === 'tail' || way === 'polls');
  return (
    <div class="result-head">
      <p class={isLive ? 'live-state is-live' : 'live-state'} role="status">
        <span class="live-dot" aria-hidden="true" />
        {isPaused ? 'Paused' : stateTexts[way]}
      </p>
      <p class="summary-line">
        <span>{formatCounted(count, 'line')}</span>
        <span>{formatShort(perSecond)} per second</span>
        {isPaused && waiting > 0 && <span>{formatCounted(waiting, 'new line')}</span>}
        {count > rows.length + waiting && <span>the newest {formatCount(rows.length)} are shown</span>}
        {isOverrun && <span>more arrive than can be shown</span>}
        {dropped > 0 && <span>{formatCounted(dropped, 'line')} dropped by the server</span>}
        {way === 'polls' && <span>asked for every second: no WebSocket to the server</span>}
      </p>
      <button
        type="button"
        class={isNewestLast ? 'button is-on' : 'button'}
        aria-pressed={isNewestLast}
        title="New lines come at the bottom"
        onClick={() => session.set({ newestLast: !isNewestLast })}
      >
        Newest last
      </button>
      <button
        type="button"
        class="button"
        onClick={() => (isPaused ? session.live.resume() : session.live.pause())}
      >
        <Icon name={isPaused ? 'run' : 'pause'} />
        <span>{isPaused ? 'Resume' : 'Pause'}</span>
      </button>
      <button type="button" class="button" onClick={() => session.live.end()}>
        <Icon name="stop" />
        <span>End</span>
      </button>
    </div>
  );
}
