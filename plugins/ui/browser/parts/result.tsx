import type { JSX } from 'preact';
import { formatBytes, formatCount, formatCounted, formatMs } from '../model/format.js';
import type { Histogram } from '../model/histogram.js';
import type { Answered } from '../store/answers.js';
import { session } from '../store/session.js';
import { useStore } from '../store/store.js';
import { HistogramChart } from './histogram-chart.js';
import { Icon } from './icons.js';
import { LogResultView } from './log-result.js';
import { Plan } from './plan.js';
import { SeriesView } from './series-view.js';

/** The answer of a query: its summary, then a chart with lines or series, or its plan. */
export function Result({ answered }: { readonly answered: Answered }): JSX.Element {
  const tab = useStore(session.store, (state) => state.tab);
  const { result, range, warnings } = answered;
  const isLog = result.kind === 'logs';
  const tabs = [
    ['result', isLog ? 'Lines' : 'Series'],
    ['plan', 'Plan'],
  ] as const;
  const turn = (event: KeyboardEvent): void => {
    if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
    session.showTab(tab === 'plan' ? 'result' : 'plan');
    const other = document.getElementById(tab === 'plan' ? 'tab-result' : 'tab-plan');
    other?.focus();
  };
  return (
    <>
      <div class="result-head">
        <div class="tabs" role="tablist" aria-label="Answer" onKeyDown={turn}>
          {tabs.map(([name, title]) => (
            <button
              key={name}
              id={`tab-${name}`}
              type="button"
              role="tab"
              aria-selected={tab === name}
              aria-controls="tab-panel"
              tabIndex={tab === name ? 0 : -1}
              onClick={() => session.showTab(name)}
            >
              {title}
              {name === 'plan' && answered.explanation.hints.length > 0 && (
                <span class="count" title="Hints to write the query cheaper">
                  <Icon name="hint" /> {answered.explanation.hints.length}
                  <span class="visually-hidden"> hints</span>
                </span>
              )}
            </button>
          ))}
        </div>
        <p class="summary-line">
          {summaryOf(answered).map((text) => (
            <span key={text}>{text}</span>
          ))}
        </p>
      </div>
      {warnings.map((text) => (
        <p key={text} class="notice" role="alert">
          {text}
        </p>
      ))}
      <div id="tab-panel" class="outcome-body" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        {tab === 'plan' ? (
          // The cost of a query is known at its end.
          result.kind === 'logs' && result.isReading ? (
            <p class="quiet">Reading …</p>
          ) : (
            <Plan answered={answered} />
          )
        ) : result.kind === 'logs' ? (
          <>
            {typeof result.histogram === 'string'
              ? result.histogram !== '' && <p class="notice">No histogram: {result.histogram}</p>
              : result.rows.length > 0 && (
                  <HistogramChart
                    histogram={result.histogram}
                    range={range}
                    onZoom={(part) => session.zoom(part)}
                  />
                )}
            <LogResultView answered={answered} result={result} />
          </>
        ) : (
          <SeriesView result={result} range={range} />
        )}
      </div>
    </>
  );
}

/** The figures of the result, and its duration. */
export function summaryOf({ result, tookMs, stats, asked }: Answered): readonly string[] {
  const bytes = stats?.summary?.totalBytesProcessed ?? 0;
  const lines = stats?.summary?.totalLinesProcessed ?? 0;
  const shown = result.kind === 'logs' ? result.rows.length : result.series.length;
  return [
    ...(result.kind === 'logs' ? linesText(result, asked.limit) : [formatCounted(shown, 'series', 'series')]),
    `${formatMs(tookMs)} ms`,
    ...(lines > shown ? [`${formatCounted(lines, 'line')} read`] : []),
    ...(bytes > 0 ? [formatBytes(bytes)] : []),
  ];
}

function linesText(
  { rows, isLimited, histogram }: Extract<Answered['result'], { readonly kind: 'logs' }>,
  limit: number,
): readonly string[] {
  if (!isLimited) return [formatCounted(rows.length, 'line')];
  const all = typeof histogram === 'string' ? 0 : totalOf(histogram);
  const of = all > rows.length ? ` of ${formatCount(all)}` : '';
  return [`${formatCount(rows.length)}${of} lines`, `limit of ${formatCount(limit)} reached`];
}

/** Lines of all bars. */
export function totalOf({ totals }: Histogram): number {
  return totals.reduce((sum, [, count]) => sum + count, 0);
}
