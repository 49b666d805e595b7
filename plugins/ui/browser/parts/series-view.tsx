import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { formatCount } from '../model/format.js';
import { matching, type Series } from '../model/series.js';
import type { TimeRange } from '../model/time-range.js';
import type { SeriesResult } from '../store/answers.js';
import { session } from '../store/session.js';
import { Icon } from './icons.js';
import { LineChart } from './line-chart.js';
import { SeriesTable } from './series-table.js';

/** Maximum number of series drawn at once. */
const maxDrawn = 24;

/** A chart of the series that match the search or the selection, with a table that is also its legend. */
export function SeriesView({
  result: { series, stepSeconds },
  range,
}: {
  readonly result: SeriesResult;
  readonly range: TimeRange;
}): JSX.Element {
  const [search, setSearch] = useState('');
  const [only, setOnly] = useState<string>();
  const found = useMemo(() => matching(series, search), [series, search]);
  const picked = only === undefined ? undefined : series.find(({ name }) => name === only);
  const drawn = useMemo<readonly Series[]>(
    () => (picked === undefined ? found.slice(0, maxDrawn) : [picked]),
    [found, picked],
  );
  if (series.length === 0) return <NoSeries />;
  return (
    <>
      <div class="series-head">
        <label class="search">
          <Icon name="search" />
          <span class="visually-hidden">Search in series</span>
          <input
            type="search"
            placeholder={`Search in ${formatCount(series.length)} series`}
            value={search}
            onInput={(event) => {
              setSearch(event.currentTarget.value);
              setOnly(undefined);
            }}
          />
        </label>
        <p class="drawn" role="status">
          {picked !== undefined
            ? `Only this of ${formatCount(series.length)} series is drawn.`
            : drawn.length < found.length
              ? `${drawn.length} of ${formatCount(found.length)} series are drawn, those with the greatest mean. Search, or pick one below.`
              : `${formatCount(drawn.length)} of ${formatCount(series.length)} series are drawn.`}
        </p>
        {picked !== undefined && (
          <button type="button" class="button" onClick={() => setOnly(undefined)}>
            Draw all again
          </button>
        )}
      </div>
      <LineChart series={drawn} range={range} stepSeconds={stepSeconds} />
      <SeriesTable
        series={found}
        drawn={drawn}
        only={picked?.name}
        onOnly={(name) => setOnly((before) => (before === name ? undefined : name))}
      />
    </>
  );
}

function NoSeries(): JSX.Element {
  return (
    <div class="panel empty">
      <h2>No series</h2>
      <p>Nothing in this range matches the query, so there is nothing to count.</p>
      <p class="empty-actions">
        <button type="button" class="button" onClick={() => session.run({ range: '24h' })}>
          Last 24 hours
        </button>
        <button type="button" class="button" onClick={() => session.run()}>
          Try again
        </button>
      </p>
    </div>
  );
}
