import type { JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { formatDay, formatSecond } from '../model/format.js';
import { piecesOf, type Series, type SeriesPoint } from '../model/series.js';
import { valueTicks } from '../model/ticks.js';
import type { TimeRange } from '../model/time-range.js';
import { useWidth } from '../use-width.js';
import { Axes, frameOf, scale } from './axes.js';
import { colourOf, mostDrawn } from './series-table.js';
import { useCursor } from './use-cursor.js';

const height = 240;

interface Properties {
  readonly series: readonly Series[];
  readonly range: TimeRange;
  readonly stepSeconds: number;
  /** Told of the moment under the pointer. */
  readonly onMoment: (ms: number | undefined) => void;
}

/** Series over time, one line each. */
export function LineChart({ series, range, stepSeconds, onMoment }: Properties): JSX.Element {
  const [element, width] = useWidth();
  const drawn = series.slice(0, mostDrawn);
  const moments = useMemo(() => momentsOf(drawn), [series]);
  const frame = frameOf(width, height);
  const least = Math.min(0, ...drawn.map(({ figures }) => figures?.min ?? 0));
  const greatest = Math.max(...drawn.map(({ figures }) => figures?.max ?? 0), least);
  const ticks = valueTicks(least, greatest, 5);
  const x = scale([range.startMs, range.endMs], [frame.left, frame.right]);
  const y = scale([ticks[0] ?? 0, ticks.at(-1) ?? 1], [frame.bottom, frame.top]);
  const { index, handlers } = useCursor(moments.length, (pixels) => nearest(moments, pixels, x));
  const current = index === undefined ? undefined : moments[index];
  useEffect(() => onMoment(current), [current, onMoment]);
  return (
    <figure class="panel chart">
      <figcaption>
        <span class="chart-title">
          {current === undefined ? rangeText(range) : `${formatDay(current)} ${formatSecond(current)}`}
        </span>
      </figcaption>
      <div ref={element} class="plot lines">
        {width > 0 && (
          <svg
            width={width}
            height={height}
            role="img"
            aria-label={`${series.length} series over time, the values are in the table below. Arrow keys read single moments.`}
            {...handlers}
          >
            <Axes frame={frame} range={range} ticks={ticks} y={y} />
            {current !== undefined && (
              <line class="cursor" x1={x(current)} x2={x(current)} y1={frame.top} y2={frame.bottom} />
            )}
            {drawn.map(({ name, points }, position) => (
              <path
                key={name}
                class={`series ${colourOf(position)}`}
                d={pathOf(points, stepSeconds * 1000, x, y)}
              />
            ))}
            {current !== undefined &&
              drawn.map(({ name, points }, position) => {
                const value = points.find(({ ms }) => ms === current)?.value;
                if (value === undefined || !Number.isFinite(value)) return null;
                return (
                  <circle
                    key={name}
                    class={`dot ${colourOf(position)}`}
                    cx={x(current)}
                    cy={y(value)}
                    r={3.5}
                  />
                );
              })}
          </svg>
        )}
      </div>
    </figure>
  );
}

/** Every moment at which a series has a point, in order. */
function momentsOf(series: readonly Series[]): readonly number[] {
  const all = new Set(series.flatMap(({ points }) => points.map(({ ms }) => ms)));
  return [...all].sort((a, b) => a - b);
}

function nearest(moments: readonly number[], pixels: number, x: (ms: number) => number): number {
  const distances = moments.map((ms) => Math.abs(x(ms) - pixels));
  return distances.indexOf(Math.min(...distances));
}

type Scale = (value: number) => number;

/** A lonely point becomes a short stroke, which a round cap makes a dot. */
function pathOf(points: readonly SeriesPoint[], stepMs: number, x: Scale, y: Scale): string {
  return piecesOf(points, stepMs)
    .map((piece) => {
      const places = piece.map(({ ms, value }) => `${x(ms).toFixed(1)} ${y(value).toFixed(1)}`);
      return places.length === 1 ? `M${places[0] ?? ''}h0.01` : `M${places.join('L')}`;
    })
    .join('');
}

function rangeText({ startMs, endMs }: TimeRange): string {
  const [from, to] = [formatDay(startMs), formatDay(endMs)];
  return `${from} ${formatSecond(startMs)} to ${from === to ? '' : `${to} `}${formatSecond(endMs)}`;
}
