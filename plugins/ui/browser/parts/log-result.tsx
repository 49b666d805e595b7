import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { formatCount, formatMoment } from '../model/format.js';
import { markerOf } from '../model/match-marks.js';
import { mostRows, pageSize } from '../model/paging.js';
import type { Answered, LogResult } from '../store/answers.js';
import { session } from '../store/session.js';
import { useStore } from '../store/store.js';
import { LogList } from './log-list.js';
import { NoLines } from './no-lines.js';

/** The lines of an answer, and actions at their end or if there are none. */
export function LogResultView({
  answered,
  result,
}: {
  readonly answered: Answered;
  readonly result: LogResult;
}): JSX.Element {
  const { range, explanation, asked } = answered;
  const marker = useMemo(() => markerOf(explanation.marks), [explanation]);
  const hasProblem = useStore(session.store, (state) => state.moreProblem !== undefined);
  // After an error, only the button asks again.
  const canLoad = result.isLimited && !hasProblem;
  if (result.rows.length === 0) return <NoLines answered={answered} result={result} />;
  return (
    <>
      <LogList
        rows={result.rows}
        range={range}
        marker={marker}
        canChange
        {...(canLoad ? { onNearEnd: () => void session.more() } : {})}
      />
      <More result={result} asked={asked} range={range} />
    </>
  );
}

function More({
  result,
  asked,
  range,
}: { readonly result: LogResult } & Pick<Answered, 'asked' | 'range'>): JSX.Element {
  const zone = useStore(session.store, (state) => state.settings.zone);
  const isLoading = useStore(session.store, (state) => state.isLoadingMore);
  const problem = useStore(session.store, (state) => state.moreProblem);
  const [which, edge] = asked.direction === 'forward' ? ['newer', range.endMs] : ['older', range.startMs];
  const last = result.rows.at(-1);
  // Exact, unlike `ms`: the range must have the last line.
  const lastMs = Number(BigInt(last?.ns ?? 0) / 1_000_000n);
  const size = pageSize(result.rows.length, asked.limit);
  return (
    <div class="more">
      {problem !== undefined && (
        <p class="notice" role="alert">
          {problem}
        </p>
      )}
      {result.isReading ? (
        <p class="quiet">Reading …</p>
      ) : !result.isLimited || last === undefined ? (
        <p class="quiet">
          No {which} lines up to {formatMoment(edge, zone)}.
        </p>
      ) : size > 0 ? (
        <>
          <p>The limit is reached: there may be {which} lines.</p>
          <button type="button" class="button" disabled={isLoading} onClick={() => void session.more()}>
            {isLoading ? 'Asking …' : `Load ${formatCount(size)} ${which} lines`}
          </button>
        </>
      ) : (
        <>
          <p class="notice" role="status">
            {formatCount(mostRows)} lines are shown, the most that the page holds. Narrow the query, or read
            on from here.
          </p>
          <button
            type="button"
            class="button"
            onClick={() =>
              session.zoom(
                asked.direction === 'forward'
                  ? { startMs: lastMs, endMs: range.endMs }
                  : { startMs: range.startMs, endMs: lastMs + 1 },
              )
            }
          >
            Show {which} lines only
          </button>
        </>
      )}
    </div>
  );
}
