import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { TimeRange } from '../model/time-range.js';
import type { SeriesResult } from '../use-query.js';
import { LineChart } from './line-chart.js';
import { SeriesTable } from './series-table.js';

/** A chart, and under it the table that names its lines and says their values where the pointer is. */
export function SeriesView({
  result: { series, stepSeconds },
  range,
}: {
  readonly result: SeriesResult;
  readonly range: TimeRange;
}): JSX.Element {
  const [moment, setMoment] = useState<number>();
  if (series.length === 0) return <p class="panel empty">No series in this range.</p>;
  return (
    <>
      <LineChart series={series} range={range} stepSeconds={stepSeconds} onMoment={setMoment} />
      <SeriesTable series={series} moment={moment} />
    </>
  );
}
