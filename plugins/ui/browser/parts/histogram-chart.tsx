import type { JSX } from 'preact';
import { formatCount, formatSecond } from '../model/format.js';
import { onlyLevels, type Bar, type Histogram } from '../model/histogram.js';
import { levels, type Level } from '../model/levels.js';
import type { Zone } from '../model/settings.js';
import { valueTicks } from '../model/ticks.js';
import type { TimeRange } from '../model/time-range.js';
import { session } from '../store/session.js';
import { useStore } from '../store/store.js';
import { useWidth } from '../use-width.js';
import { Axes, frameOf, scale, type Frame } from './axes.js';
import { ChartTip } from './chart-tip.js';
import { LevelLegend } from './level-legend.js';
import { useCursor, type Span } from './use-cursor.js';

const height = 104;

/** Lines over time, stacked by level, most severe at the bottom where they can be compared. */
export function HistogramChart({
  histogram: all,
  range,
  hidden,
  onHide,
  onZoom,
}: {
  readonly histogram: Histogram;
  readonly range: TimeRange;
  /** The levels that are not drawn. */
  readonly hidden: ReadonlySet<Level>;
  readonly onHide: (hidden: ReadonlySet<Level>) => void;
  /** Called with the selected part of the range. */
  readonly onZoom: (range: TimeRange) => void;
}): JSX.Element {
  const zone = useStore(session.store, (state) => state.settings.zone);
  const [element, width] = useWidth();
  const { bars, totals, highest } = onlyLevels(all, hidden);
  const shown = { startMs: bars[0]?.startMs ?? range.startMs, endMs: bars.at(-1)?.endMs ?? range.endMs };
  const frame = frameOf(width, height);
  const ticks = valueTicks(0, Math.max(1, highest), 3).filter(Number.isInteger);
  const y = scale([0, ticks.at(-1) ?? 1], [frame.bottom, frame.top]);
  const barWidth = (frame.right - frame.left) / Math.max(1, bars.length);
  const zoom = ({ first, last }: Span): void => {
    const [from, to] = [bars[first], bars[last]];
    if (from !== undefined && to !== undefined) onZoom({ startMs: from.startMs, endMs: to.endMs });
  };
  const columnAt = (pixels: number): number => Math.floor((pixels - frame.left) / barWidth);
  const { index, span, handlers } = useCursor(bars.length, columnAt, zoom);
  const current = index === undefined ? undefined : bars[index];
  return (
    <figure class="panel chart">
      <figcaption class="visually-hidden">Lines over time by level</figcaption>
      <div ref={element} class="plot histogram">
        {width > 0 && (
          <svg
            width={width}
            height={height}
            role="img"
            aria-label={`Lines over time by level: ${totals.map(([level, count]) => `${count} ${level}`).join(', ')}. Arrow keys read single bars, Enter asks for one alone.`}
            {...handlers}
          >
            <Axes frame={frame} range={shown} ticks={ticks} y={y} zone={zone} />
            {bars.map((bar, position) => (
              <Stack
                key={bar.endMs}
                bar={bar}
                left={frame.left + position * barWidth}
                width={barWidth}
                frame={frame}
                y={y}
                isCurrent={span !== undefined && position >= span.first && position <= span.last}
              />
            ))}
          </svg>
        )}
        <div role="status">
          {current !== undefined && index !== undefined && (
            <ChartTip
              at={frame.left + (index + 0.5) * barWidth}
              width={width}
              title={spanText(current, zone)}
            >
              {levels
                .filter((level) => (current.counts.get(level) ?? 0) > 0)
                .map((level) => (
                  <li key={level} class={`level-${level}`}>
                    <span class="swatch" />
                    <span class="tip-name">{level}</span>
                    <span class="number">{formatCount(current.counts.get(level) ?? 0)}</span>
                  </li>
                ))}
              <li>
                <span class="swatch" />
                <span class="tip-name">all</span>
                <span class="number">{formatCount(current.total)}</span>
              </li>
            </ChartTip>
          )}
        </div>
      </div>
      <LevelLegend totals={all.totals} hidden={hidden} onHide={onHide} />
    </figure>
  );
}

interface StackProperties {
  readonly bar: Bar;
  readonly left: number;
  readonly width: number;
  readonly frame: Frame;
  readonly y: (value: number) => number;
  readonly isCurrent: boolean;
}

function Stack({ bar, left, width, frame, y, isCurrent }: StackProperties): JSX.Element {
  const gap = width > 4 ? 1.5 : 0.5;
  return (
    <g class="bar">
      {isCurrent && (
        <rect class="column" x={left} width={width} y={frame.top} height={frame.bottom - frame.top} />
      )}
      {piecesOf(bar).map(({ level, from, to }) => (
        <rect
          key={level}
          class={`level-${level}`}
          x={left + gap / 2}
          width={Math.max(0.5, width - gap)}
          y={y(to)}
          height={Math.max(0, y(from) - y(to))}
        />
      ))}
    </g>
  );
}

function piecesOf({
  counts,
}: Bar): readonly { readonly level: Level; readonly from: number; readonly to: number }[] {
  let from = 0;
  return levels.flatMap((level) => {
    const count = counts.get(level) ?? 0;
    if (count === 0) return [];
    const piece = { level, from, to: from + count };
    from = piece.to;
    return [piece];
  });
}

function spanText({ startMs, endMs }: TimeRange, zone: Zone): string {
  return `${formatSecond(startMs, zone)} to ${formatSecond(endMs, zone)}`;
}
