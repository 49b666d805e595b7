import type { JSX } from 'preact';
import { formatBytes, formatCount, formatCounted, formatMs } from '../model/format.js';
import type { Histogram } from '../model/histogram.js';
import type { Answered, LogResult } from '../store/answers.js';
import { session, type Tab } from '../store/session.js';
import { useStore } from '../store/store.js';
import { useMemo, useState } from 'preact/hooks';
import type { Level } from '../model/levels.js';
import { HistogramChart } from './histogram-chart.js';
import { Icon } from './icons.js';
import { LogResultView } from './log-result.js';
import { Plan } from './plan.js';
import { SeriesView } from './series-view.js';
import { TabBar } from './tab-bar.js';
import { PatternsView } from './views/patterns-view.js';
import { VolumesView } from './views/volumes-view.js';

/** The answer of a query: its summary, then a chart with lines or series, or its plan. */
export function Result({ answered }: { readonly answered: Answered }): JSX.Element {
  const tab = useStore(session.store, (state) => state.tab);
  const { result, range, warnings, asked } = answered;
  const isLog = result.kind === 'logs';
  return (
    <>
      <div class="result-head">
        <TabBar<Tab>
          id="tab"
          label="Answer"
          tabs={[
            ['result', isLog ? 'Lines' : 'Series'],
            ['patterns', 'Patterns'],
            ['volumes', 'Volumes'],
            ['plan', <PlanTitle count={answered.explanation.hints.length} />],
          ]}
          chosen={tab}
          onChoose={(name) => session.showTab(name)}
        />
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
        ) : tab === 'patterns' ? (
          <PatternsView answered={answered} />
        ) : tab === 'volumes' ? (
          <VolumesView answered={answered} />
        ) : result.kind === 'logs' ? (
          <LinesResult answered={answered} result={result} />
        ) : (
          <SeriesView key={asked.query} result={result} range={range} query={asked.query} />
        )}
      </div>
    </>
  );
}

/** The lines below their histogram. A level that is hidden in the legend is hidden among the lines, unless that leaves none. */
function LinesResult({
  answered,
  result,
}: {
  readonly answered: Answered;
  readonly result: LogResult;
}): JSX.Element {
  const [hidden, hide] = useState<ReadonlySet<Level>>(new Set());
  const { histogram } = result;
  const rows = useMemo(
    () => (hidden.size === 0 ? result.rows : result.rows.filter(({ level }) => !hidden.has(level))),
    [result, hidden],
  );
  const isEmptied = rows.length === 0 && result.rows.length > 0;
  const shown = useMemo(() => (rows === result.rows ? result : { ...result, rows }), [result, rows]);
  return (
    <>
      {typeof histogram === 'string'
        ? histogram !== '' && <p class="notice">No histogram: {histogram}</p>
        : result.rows.length > 0 && (
            <HistogramChart
              histogram={histogram}
              range={answered.range}
              hidden={hidden}
              onHide={hide}
              onZoom={(part) => session.zoom(part)}
            />
          )}
      {isEmptied ? (
        <p class="panel empty">
          None of the {formatCounted(result.rows.length, 'loaded line')} has a shown level. Shift and a click
          on a level asks for it alone.
        </p>
      ) : (
        <LogResultView answered={answered} result={shown} />
      )}
    </>
  );
}

function PlanTitle({ count }: { readonly count: number }): JSX.Element {
  if (count === 0) return <>Plan</>;
  return (
    <>
      Plan{' '}
      <span class="count" title="Hints to write the query cheaper">
        <Icon name="hint" /> {count}
        <span class="visually-hidden">{count === 1 ? ' hint' : ' hints'}</span>
      </span>
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
