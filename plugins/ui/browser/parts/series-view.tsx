import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { fetchOutline } from '../discovery.js';
import { formatCount } from '../model/format.js';
import { chartForms, type ChartForm } from '../model/layout.js';
import { matching, withOwnColours, type Series } from '../model/series.js';
import type { TimeRange } from '../model/time-range.js';
import type { SeriesResult } from '../store/answers.js';
import { layout } from '../store/layout.js';
import { session } from '../store/session.js';
import { useStore } from '../store/store.js';
import { dataOf, useAnswer } from '../use-answer.js';
import { Icon } from './icons.js';
import { SeriesChart } from './series-chart.js';
import { SeriesTable } from './series-table.js';

/** Maximum number of series drawn at once. */
const maxDrawn = 24;

/** A chart of the series that match the search or the selection, with a table that is also its legend. */
export function SeriesView({
  result: { series, stepSeconds },
  range,
  query,
}: {
  readonly result: SeriesResult;
  readonly range: TimeRange;
  /** The query that was asked, from which the unit of the values follows. */
  readonly query: string;
}): JSX.Element {
  const [search, setSearch] = useState('');
  const [only, setOnly] = useState<string>();
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const { chart, isLog } = useStore(layout.store, (state) => state);
  const outlined = useAnswer(query, (signal) => fetchOutline(query, signal));
  const unit = dataOf(outlined)?.unit ?? 'none';
  const found = useMemo(() => matching(series, search), [series, search]);
  const picked = only === undefined ? undefined : series.find(({ name }) => name === only);
  const drawn = useMemo<readonly Series[]>(() => {
    if (picked !== undefined) return [picked];
    return withOwnColours(found.filter(({ name }) => !hidden.has(name)).slice(0, maxDrawn));
  }, [found, picked, hidden]);
  const hide = (name: string): void => {
    setOnly(undefined);
    setHidden((before) => {
      const next = new Set(before);
      if (!next.delete(name)) next.add(name);
      return next;
    });
  };
  if (series.length === 0) return <NoSeries />;
  const left = found.filter(({ name }) => !hidden.has(name)).length;
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
            : drawn.length < left
              ? `${drawn.length} of ${formatCount(found.length)} series are drawn, those with the greatest mean. Search, or pick one below.`
              : `${formatCount(drawn.length)} of ${formatCount(series.length)} series are drawn.`}
        </p>
        {(picked !== undefined || hidden.size > 0) && (
          <button
            type="button"
            class="button"
            onClick={() => {
              setOnly(undefined);
              setHidden(new Set());
            }}
          >
            Draw all again
          </button>
        )}
        <ChartChoice form={chart} isLog={isLog} />
      </div>
      <SeriesChart
        title="Series over time"
        series={drawn}
        range={range}
        stepSeconds={stepSeconds}
        form={chart}
        isLog={isLog}
        unit={unit}
        onZoom={(part) => session.zoom(part)}
      />
      <SeriesTable
        series={found}
        drawn={drawn}
        only={picked?.name}
        hidden={hidden}
        unit={unit}
        onOnly={(name) => setOnly((before) => (before === name ? undefined : name))}
        onHide={hide}
      />
    </>
  );
}

const formTexts: Readonly<Record<ChartForm, string>> = { lines: 'Lines', stacked: 'Stacked', bars: 'Bars' };

/** The form of the chart, and the scale of its lines. */
function ChartChoice({ form, isLog }: { readonly form: ChartForm; readonly isLog: boolean }): JSX.Element {
  return (
    <div class="chart-choice" role="group" aria-label="Form of the chart">
      {chartForms.map((one) => (
        <button
          key={one}
          type="button"
          class={one === form ? 'button is-quiet is-on' : 'button is-quiet'}
          aria-pressed={one === form}
          onClick={() => layout.set({ chart: one })}
        >
          {formTexts[one]}
        </button>
      ))}
      <button
        type="button"
        class={isLog && form === 'lines' ? 'button is-quiet is-on' : 'button is-quiet'}
        aria-pressed={isLog && form === 'lines'}
        disabled={form !== 'lines'}
        title={form === 'lines' ? 'Logarithmic scale' : 'Only lines have a logarithmic scale'}
        onClick={() => layout.set({ isLog: !isLog })}
      >
        Log scale
      </button>
    </div>
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
