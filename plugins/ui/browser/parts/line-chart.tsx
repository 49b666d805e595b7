import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { formatMoment, formatShort } from '../model/format.js';
import { piecesOf, type Series, type SeriesPoint } from '../model/series.js';
import { valueTicks } from '../model/ticks.js';
import type { TimeRange } from '../model/time-range.js';
import { session } from '../store/session.js';
import { useStore } from '../store/store.js';
import { useWidth } from '../use-width.js';
import { Axes, frameOf, scale } from './axes.js';
import { ChartTip } from './chart-tip.js';
import { useCursor } from './use-cursor.js';

const height = 240;
/** Maximum number of series with values beside the pointer, largest first. */
const maxShown = 10;

interface Properties {
  readonly series: readonly Series[];
  readonly range: TimeRange;
  readonly stepSeconds: number;
}

/** Series over time, one line each. */
export function LineChart({ series, range, stepSeconds }: Properties): JSX.Element {
  const zone = useStore(session.store, (state) => state.settings.zone);
  const [element, width] = useWidth();
  const moments = useMemo(() => momentsOf(series), [series]);
  const frame = frameOf(width, height);
  const least = Math.min(0, ...series.map(({ figures }) => figures?.min ?? 0));
  const greatest = Math.max(...series.map(({ figures }) => figures?.max ?? 0), least);
  const ticks = valueTicks(least, greatest, 5);
  const x = scale([range.startMs, range.endMs], [frame.left, frame.right]);
  const y = scale([ticks[0] ?? 0, ticks.at(-1) ?? 1], [frame.bottom, frame.top]);
  const paths = useMemo(
    () => series.map(({ points }) => pathOf(points, stepSeconds * 1000, x, y)),
    [series, width, stepSeconds],
  );
  const { index, handlers } = useCursor(moments.length, (pixels) => nearest(moments, pixels, x));
  const current = index === undefined ? undefined : moments[index];
  const shown = current === undefined ? [] : valuesAt(series, current);
  return (
    <figure class="panel chart">
      <figcaption class="visually-hidden">Series over time</figcaption>
      <div ref={element} class="plot lines">
        {width > 0 && (
          <svg
            width={width}
            height={height}
            role="img"
            aria-label={`${series.length} series over time, the values are in the table below. Arrow keys read single moments.`}
            {...handlers}
          >
            <Axes frame={frame} range={range} ticks={ticks} y={y} zone={zone} />
            {current !== undefined && (
              <line class="cursor" x1={x(current)} x2={x(current)} y1={frame.top} y2={frame.bottom} />
            )}
            {series.map(({ name, colour }, position) => (
              <path key={name} class={`series ${colour}`} d={paths[position] ?? ''} />
            ))}
            {current !== undefined &&
              shown.map(({ one, value }) => (
                <circle key={one.name} class={`dot ${one.colour}`} cx={x(current)} cy={y(value)} r={3.5} />
              ))}
          </svg>
        )}
        {current !== undefined && (
          <ChartTip at={x(current)} width={width} title={formatMoment(current, zone)}>
            {shown.slice(0, maxShown).map(({ one, value }) => (
              <li key={one.name}>
                <span class={`swatch ${one.colour}`} />
                <span class="tip-name">{one.name}</span>
                <span class="number">{formatShort(value)}</span>
              </li>
            ))}
            {shown.length > maxShown && <li class="quiet">and {shown.length - maxShown} more</li>}
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
  moment: number,
): readonly { readonly one: Series; readonly value: number }[] {
  return series
    .flatMap((one) => {
      const value = one.points.find(({ ms }) => ms === moment)?.value;
      return value === undefined || !Number.isFinite(value) ? [] : [{ one, value }];
    })
    .sort((a, b) => b.value - a.value);
}

/** All times at which a series has a point, in order. */
function momentsOf(series: readonly Series[]): readonly number[] {
  const all = new Set(series.flatMap(({ points }) => points.map(({ ms }) => ms)));
  return [...all].sort((a, b) => a - b);
}

function nearest(moments: readonly number[], pixels: number, x: (ms: number) => number): number {
  const distances = moments.map((ms) => Math.abs(x(ms) - pixels));
  return distances.indexOf(Math.min(...distances));
}

type Scale = (value: number) => number;

/** The path of a segment; a single point becomes a short stroke, which a round cap turns into a dot. */
function pathOf(points: readonly SeriesPoint[], stepMs: number, x: Scale, y: Scale): string {
  return piecesOf(points, stepMs)
    .map((piece) => {
      const places = piece.map(({ ms, value }) => `${x(ms).toFixed(1)} ${y(value).toFixed(1)}`);
      return places.length === 1 ? `M${places[0] ?? ''}h0.01` : `M${places.join('L')}`;
    })
    .join('');
}
