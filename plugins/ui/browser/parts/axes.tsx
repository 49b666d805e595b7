import type { JSX } from 'preact';
import { formatShort, formatTick, offsetOf } from '../model/format.js';
import type { Zone } from '../model/settings.js';
import { timeTicks } from '../model/ticks.js';
import type { TimeRange } from '../model/time-range.js';

/** The drawing area of a chart in pixels: labels of values are left of it, those of times below. */
export interface Frame {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

export const frameOf = (width: number, height: number): Frame => ({
  left: 48,
  right: Math.max(60, width - 8),
  top: 8,
  bottom: height - 24,
});

/** Maps a range of values linearly to pixels. */
export function scale(
  from: readonly [number, number],
  to: readonly [number, number],
): (value: number) => number {
  const span = from[1] - from[0] || 1;
  return (value) => to[0] + ((value - from[0]) / span) * (to[1] - to[0]);
}

/** The least distance of two times below an axis in pixels. */
export const tickWidth = 84;

/** About half of the width of a label, beyond which the chart has eight more pixels. */
function edgeOf(label: string): number {
  return Math.max(16, label.length * 3.6 - 8);
}

/** Lines and labels of both axes. */
export function Axes({
  frame,
  range,
  ticks,
  y,
  zone,
}: {
  readonly frame: Frame;
  readonly range: TimeRange;
  readonly ticks: readonly number[];
  readonly y: (value: number) => number;
  readonly zone: Zone;
}): JSX.Element {
  const x = scale([range.startMs, range.endMs], [frame.left, frame.right]);
  const most = Math.max(2, Math.floor((frame.right - frame.left) / tickWidth));
  const axis = timeTicks(range, most, (at) => offsetOf(at, zone));
  return (
    <g class="axes">
      {ticks.map((value) => (
        <g key={value}>
          <line x1={frame.left} x2={frame.right} y1={y(value)} y2={y(value)} />
          <text x={frame.left - 8} y={y(value)} dy="0.32em" text-anchor="end">
            {formatShort(value)}
          </text>
        </g>
      ))}
      {axis.ticks.map((ms) => {
        const label = formatTick(ms, range, axis.areMonths, zone);
        // A label at the very edge would be cut.
        const isNearEdge = x(ms) > frame.right - edgeOf(label) || x(ms) < frame.left + 16;
        return isNearEdge ? null : (
          <text key={ms} x={x(ms)} y={frame.bottom + 18} text-anchor="middle">
            {label}
          </text>
        );
      })}
    </g>
  );
}
