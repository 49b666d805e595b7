import type { JSX } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import { formatMoment, formatValue } from '../model/format.js';
import type { ChartForm } from '../model/layout.js';
import { columnsOf, type Columns, type Series } from '../model/series.js';
import type { TimeRange } from '../model/time-range.js';
import type { ValueUnit } from '../model/wire.js';
import { session } from '../store/session.js';
import { useStore } from '../store/store.js';
import { useWidth } from '../use-width.js';
import { ChartTip } from './chart-tip.js';
import { drawnColumns, optionsOf } from './series-plot.js';
import { useDarkness } from './use-darkness.js';
import { movedIndex } from './use-cursor.js';
import { usePlotting } from './use-uplot.js';

const height = 260;
/** Maximum number of series with values beside the pointer, largest first. */
const mostShown = 12;

interface Properties {
  /** The name of the values: `Series over time`. */
  readonly title: string;
  readonly series: readonly Series[];
  readonly range: TimeRange;
  readonly stepSeconds: number;
  readonly form: ChartForm;
  readonly isLog: boolean;
  readonly unit: ValueUnit;
  readonly onZoom: (range: TimeRange) => void;
}

/** Series over time as lines, areas or bars. Pointer and arrow keys read single moments, and select a part of the range. */
export function SeriesChart({
  title,
  series,
  range,
  stepSeconds,
  form,
  isLog,
  unit,
  onZoom,
}: Properties): JSX.Element {
  const zone = useStore(session.store, (state) => state.settings.zone);
  const [element, width] = useWidth();
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const anchor = useRef<number | undefined>(undefined);
  const [index, setIndex] = useState<number>();
  const isDark = useDarkness();
  const plotting = usePlotting();
  const columns = useMemo(() => columnsOf(series, stepSeconds * 1000), [series, stepSeconds]);
  // In the same frame as the table, so that a key pressed when the unit is shown reaches the chart that has it.
  useLayoutEffect(() => {
    const target = place.current;
    if (target === null || width === 0 || typeof plotting === 'string') return undefined;
    const drawn = drawnColumns(columns, form, isLog);
    const made = new plotting(
      optionsOf(plotting, {
        size: { width, height },
        series,
        columns,
        range,
        stepSeconds,
        form,
        isLog,
        unit,
        zone,
        element: target,
        onIndex: setIndex,
        onZoom,
      }),
      drawn,
      target,
    );
    plot.current = made;
    setIndex(undefined);
    return () => {
      plot.current = undefined;
      made.destroy();
    };
  }, [plotting, columns, width, form, isLog, unit, zone, isDark, range]);
  const atMs = index === undefined ? undefined : (columns.seconds[index] ?? 0) * 1000;
  const shown = index === undefined ? [] : valuesAt(series, columns, index);
  const left = index === undefined ? 0 : leftOf(plot.current, columns.seconds[index] ?? 0);
  return (
    <figure class="panel chart">
      <figcaption class="visually-hidden">{title}</figcaption>
      <div
        ref={element}
        class="plot lines"
        role="img"
        tabIndex={0}
        aria-label={`${title}, ${series.length} series. The values are in the table below. Arrow keys read single moments, with Shift they select a part of the range, and Enter zooms to it.`}
        onKeyDown={(event) => keyed(event, plot.current, anchor, onZoom)}
        onBlur={() => {
          anchor.current = undefined;
          plot.current?.setCursor({ left: -10, top: -10 });
          clearSelection(plot.current);
        }}
      >
        <div ref={place} class={`plot-${form}`} />
        {plotting === 'failed' && (
          <p class="notice">The chart could not be loaded; the values are in the table.</p>
        )}
      </div>
      <div role="status">
        {atMs !== undefined && (
          <ChartTip at={left} width={width} title={formatMoment(atMs, zone)}>
            {shown.slice(0, mostShown).map(({ one, value }) => (
              <li key={one.name}>
                <span class={`swatch ${one.colour}`} />
                <span class="tip-name">{one.name}</span>
                <span class="number">{formatValue(value, unit)}</span>
              </li>
            ))}
            {shown.length > mostShown && <li class="quiet">and {shown.length - mostShown} more</li>}
            {shown.length === 0 && <li class="quiet">no values</li>}
          </ChartTip>
        )}
      </div>
    </figure>
  );
}

/** The values at a time, largest first. */
function valuesAt(
  series: readonly Series[],
  { values }: Columns,
  index: number,
): readonly { readonly one: Series; readonly value: number }[] {
  return series
    .flatMap((one, position) => {
      const value = values[position]?.[index];
      return value === undefined || value === null ? [] : [{ one, value }];
    })
    .sort((a, b) => b.value - a.value);
}

/** The distance of a time from the left edge of the chart in pixels. */
function leftOf(plot: uPlot | undefined, seconds: number): number {
  return plot === undefined ? 0 : plot.valToPos(seconds, 'x') + plot.over.offsetLeft;
}

function clearSelection(plot: uPlot | undefined): void {
  plot?.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
}

/** Moves the cursor by the keyboard; with Shift it selects, and Enter asks for what is selected. */
function keyed(
  event: KeyboardEvent,
  plot: uPlot | undefined,
  anchor: { current: number | undefined },
  onZoom: (range: TimeRange) => void,
): void {
  if (plot === undefined) return;
  const seconds = plot.data[0];
  const now = plot.cursor.idx ?? undefined;
  if (event.key === 'Enter' && !event.ctrlKey && !event.metaKey) {
    const [from, to] = [seconds[anchor.current ?? -1], seconds[now ?? -1]];
    if (from === undefined || to === undefined || from === to) return;
    event.preventDefault();
    onZoom({ startMs: Math.min(from, to) * 1000, endMs: Math.max(from, to) * 1000 });
    return;
  }
  const next = movedIndex(event.key, now, seconds.length);
  if (next === undefined) return;
  event.preventDefault();
  anchor.current = event.shiftKey ? (anchor.current ?? now ?? next) : undefined;
  const left = plot.valToPos(seconds[next] ?? 0, 'x');
  plot.setCursor({ left, top: plot.over.clientHeight / 2 });
  if (anchor.current === undefined) {
    clearSelection(plot);
    return;
  }
  const from = plot.valToPos(seconds[anchor.current] ?? 0, 'x');
  const box = { left: Math.min(from, left), width: Math.abs(left - from) };
  plot.setSelect({ ...box, top: 0, height: plot.over.clientHeight }, false);
}
