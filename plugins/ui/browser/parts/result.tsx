import type { JSX } from 'preact';
import { formatBytes, formatCounted, formatMs } from '../model/format.js';
import type { TimeRange } from '../model/time-range.js';
import type { Answered } from '../use-query.js';
import { HistogramChart } from './histogram-chart.js';
import { LogList } from './log-list.js';
import { Plan } from './plan.js';
import { SeriesView } from './series-view.js';

/** The answer of a query: how it came about, its picture, its lines or series. */
export function Result({
  answered,
  onZoom,
}: {
  readonly answered: Answered;
  readonly onZoom: (range: TimeRange) => void;
}): JSX.Element {
  const { result, explanation, range, warnings } = answered;
  return (
    <>
      <p class="summary-line">
        {summaryOf(answered).map((text) => (
          <span key={text}>{text}</span>
        ))}
      </p>
      {warnings.map((text) => (
        <p key={text} class="alert">
          {text}
        </p>
      ))}
      <Plan explanation={explanation} />
      {result.kind === 'logs' ? (
        <>
          {typeof result.histogram === 'string' ? (
            <p class="alert">No histogram: {result.histogram}</p>
          ) : (
            <HistogramChart histogram={result.histogram} range={range} onZoom={onZoom} />
          )}
          <LogList rows={result.rows} range={range} />
        </>
      ) : (
        <SeriesView result={result} range={range} />
      )}
    </>
  );
}

/** What came back, and what it took. */
export function summaryOf({ result, tookMs, stats }: Answered): readonly string[] {
  const what =
    result.kind === 'logs'
      ? [formatCounted(result.rows.length, 'line'), formatCounted(result.streams, 'stream')]
      : [formatCounted(result.series.length, 'series', 'series')];
  const bytes = stats?.summary?.totalBytesProcessed ?? 0;
  const lines = stats?.summary?.totalLinesProcessed ?? 0;
  return [
    ...what,
    `${formatMs(tookMs)} ms`,
    ...(lines > 0 ? [`${formatCounted(lines, 'line')} looked at`] : []),
    ...(bytes > 0 ? [formatBytes(bytes)] : []),
  ];
}
