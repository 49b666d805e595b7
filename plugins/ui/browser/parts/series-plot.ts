/** The chart of series as uPlot draws it. */
import type uPlot from 'uplot';
import { formatTick, formatValue, offsetOf } from '../model/format.js';
import type { ChartForm } from '../model/layout.js';
import { aboveZero, lonePoints, stacked, type Columns, type Series } from '../model/series.js';
import type { Zone } from '../model/settings.js';
import { timeTicks, valueTicks } from '../model/ticks.js';
import type { TimeRange } from '../model/time-range.js';
import type { ValueUnit } from '../model/wire.js';
import { tickWidth } from './axes.js';
import type { Plotting } from './use-uplot.js';

/** The kind of a logarithmic scale, a constant of uPlot's types that has no value at run time. */
// eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment -- an enum of types only cannot be read
const logarithmic = 3 as uPlot.Scale.Distr.Logarithmic;

interface PlotSettings {
  readonly size: { readonly width: number; readonly height: number };
  readonly series: readonly Series[];
  readonly columns: Columns;
  readonly range: TimeRange;
  readonly stepSeconds: number;
  readonly form: ChartForm;
  readonly isLog: boolean;
  readonly unit: ValueUnit;
  readonly zone: Zone;
  /** An element of the page, in whose colours the chart is painted. */
  readonly element: HTMLElement;
  readonly onIndex: (index: number | undefined) => void;
  readonly onZoom: (range: TimeRange) => void;
}

/** The columns as they are drawn. Stacked series are painted from the top, so that each one covers the sum that it is a part of. */
export function drawnColumns(columns: Columns, form: ChartForm, isLog: boolean): uPlot.AlignedData {
  const { seconds, values } = form === 'lines' ? (isLog ? aboveZero(columns) : columns) : stacked(columns);
  const painted = form === 'lines' ? values : values.toReversed();
  return [[...seconds], ...painted.map((column) => [...column])];
}

export function optionsOf(plotting: Plotting, settings: PlotSettings): uPlot.Options {
  const { size, series, range, stepSeconds, form, isLog, unit, zone, element, onIndex, onZoom } = settings;
  const data = drawnColumns(settings.columns, form, isLog);
  const painted = form === 'lines' ? series : series.toReversed();
  const colourOf = paintsOf(element);
  const start = range.startMs / 1000 - (form === 'bars' ? stepSeconds : 0);
  const isLogDrawn = isLog && form === 'lines';
  const bounds = boundsOf(data, isLogDrawn);
  const ticks = valueTicks(bounds[0], bounds[1], 5);
  const font = `13px ${getComputedStyle(element).fontFamily}`;
  const axis = {
    stroke: colourOf('axis-ink'),
    font,
    grid: { stroke: colourOf('axis-line'), width: 1 },
    ticks: { show: false },
  } as const;
  const bars = plotting.paths.bars?.({ size: [0.8, 60], align: -1 });
  return {
    ...size,
    padding: [10, 8, 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      drag: { x: true, y: false, setScale: false, dist: 4 },
      points: { show: form === 'lines', size: 7 },
    },
    scales: {
      x: { time: false, range: [start, Math.max(start + stepSeconds, range.endMs / 1000)] },
      y: isLogDrawn
        ? { distr: logarithmic, log: 10, range: [bounds[0], bounds[1]] }
        : { range: [ticks[0] ?? 0, ticks.at(-1) ?? 1] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 28,
        splits: (plot) => axisOf(plot).ticks.map((ms) => ms / 1000),
        values: (plot, splits) => {
          const { areMonths } = axisOf(plot);
          return splits.map((seconds) => formatTick(seconds * 1000, range, areMonths, zone));
        },
      },
      {
        ...axis,
        size: unit === 'none' ? 48 : 72,
        splits: isLogDrawn ? () => powersOf(bounds) : () => [...ticks],
        values: (_plot, splits) => splits.map((value) => formatValue(value, unit)),
      },
    ],
    series: [
      {},
      ...painted.map(({ colour }, position): uPlot.Series => {
        const paint = colourOf(colour);
        const lone = lonePoints((data[position + 1] ?? []) as readonly (number | null)[]);
        return {
          stroke: paint,
          width: form === 'lines' ? 1.75 : form === 'stacked' ? 1 : 0,
          ...(form === 'lines' ? {} : { fill: paint }),
          ...(form === 'bars' && bars !== undefined ? { paths: bars } : {}),
          points: { show: form !== 'bars' && lone.length > 0, size: 4, fill: paint, filter: () => lone },
        };
      }),
    ],
    hooks: {
      setCursor: [(plot) => onIndex(plot.cursor.idx ?? undefined)],
      setSelect: [
        (plot) => {
          const { left, width } = plot.select;
          if (width < 4) return;
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          onZoom({
            startMs: Math.floor(plot.posToVal(left, 'x')) * 1000,
            endMs: Math.ceil(plot.posToVal(left + width, 'x')) * 1000,
          });
        },
      ],
    },
  };

  function axisOf(plot: uPlot): ReturnType<typeof timeTicks> {
    const most = Math.max(2, Math.floor(plot.over.clientWidth / tickWidth));
    return timeTicks({ startMs: start * 1000, endMs: range.endMs }, most, (at) => offsetOf(at, zone));
  }
}

/** The least and the greatest value, zero included; for a logarithmic scale, the powers of ten around them. */
function boundsOf(data: uPlot.AlignedData, isLog: boolean): readonly [number, number] {
  let [least, greatest] = isLog ? [Infinity, 0] : [0, 0];
  for (const column of data.slice(1)) {
    for (const value of column) {
      if (value === null || value === undefined) continue;
      least = Math.min(least, value);
      greatest = Math.max(greatest, value);
    }
  }
  if (!isLog) return [least, greatest];
  if (greatest === 0) return [1, 10];
  const [from, to] = [Math.floor(Math.log10(least)), Math.ceil(Math.log10(greatest))];
  return [10 ** from, 10 ** Math.max(from + 1, to)];
}

/** The powers of ten in a range, at most about seven of them. */
function powersOf([least, greatest]: readonly [number, number]): number[] {
  const [from, to] = [Math.round(Math.log10(least)), Math.round(Math.log10(greatest))];
  const step = Math.max(1, Math.ceil((to - from) / 7));
  return Array.from(
    { length: Math.floor((to - from) / step) + 1 },
    (_, index) => 10 ** (from + index * step),
  );
}

/** Finds the colour of a class in the present theme, as the style sheets have it. */
function paintsOf(element: HTMLElement): (name: string) => string {
  const known = new Map<string, string>();
  return (name) => {
    const found = known.get(name);
    if (found !== undefined) return found;
    const probe = document.createElement('span');
    probe.className = `swatch ${name}`;
    element.append(probe);
    const colour = getComputedStyle(probe).backgroundColor;
    probe.remove();
    known.set(name, colour);
    return colour;
  };
}
