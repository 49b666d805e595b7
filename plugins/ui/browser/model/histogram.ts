import { levelOf, levels, type Level } from './levels.js';
import type { LogRow } from './log-rows.js';
import type { TimeRange } from './time-range.js';
import type { WireSeries } from './wire.js';

/** Number of lines in one interval by level. */
export interface Bar extends TimeRange {
  readonly counts: ReadonlyMap<Level, number>;
  readonly total: number;
}
export interface Histogram {
  readonly bars: readonly Bar[];
  /** Number of lines in the whole range by level, most severe first; levels without lines are omitted. */
  readonly totals: readonly (readonly [Level, number])[];
  /** Number of lines of the highest bar. */
  readonly highest: number;
}

/** Creates the bars of an answer counted by level: one for every step of the (aligned) range, including empty ones. */
export function histogramOf(series: readonly WireSeries[], range: TimeRange, stepSeconds: number): Histogram {
  return barsOf(
    series.flatMap(({ metric, values }) => {
      const level = levelOf(metric['detected_level'] ?? metric['level']);
      return values.map(([seconds, text]) => [seconds * 1000, level, Number(text)] as const);
    }),
    range,
    stepSeconds,
  );
}

/** As `histogramOf`, from an answer with all lines of the range. */
export function histogramOfRows(rows: readonly LogRow[], range: TimeRange, stepSeconds: number): Histogram {
  const step = stepSeconds * 1000;
  // As on the server, a bar includes its end and not its start.
  const barEnd = ({ ms }: LogRow): number => Math.max(range.startMs, Math.ceil(ms / step) * step);
  return barsOf(
    rows.map((row) => [barEnd(row), row.level, 1] as const),
    range,
    stepSeconds,
  );
}

/** The histogram without some levels. */
export function onlyLevels(histogram: Histogram, hidden: ReadonlySet<Level>): Histogram {
  if (hidden.size === 0) return histogram;
  const bars = histogram.bars.map((bar) => {
    const counts = new Map([...bar.counts].filter(([level]) => !hidden.has(level)));
    return { ...bar, counts, total: [...counts.values()].reduce((sum, count) => sum + count, 0) };
  });
  return {
    bars,
    totals: histogram.totals.filter(([level]) => !hidden.has(level)),
    highest: bars.reduce((most, { total }) => Math.max(most, total), 0),
  };
}

/** The levels that are hidden after one is picked in the legend: all others, or none if it was shown alone. */
export function hiddenBeside(
  levels: readonly Level[],
  hidden: ReadonlySet<Level>,
  picked: Level,
): ReadonlySet<Level> {
  const others = levels.filter((level) => level !== picked);
  const isAlone = !hidden.has(picked) && others.every((level) => hidden.has(level));
  return isAlone ? new Set() : new Set(others);
}

/** Bars of a range from counts of their ends. */
export function barsOf(
  parts: readonly (readonly [endMs: number, level: Level, count: number])[],
  range: TimeRange,
  stepSeconds: number,
): Histogram {
  const counts = new Map<number, Map<Level, number>>();
  const totals = new Map<Level, number>();
  for (const [endMs, level, count] of parts) {
    const bar = counts.get(endMs) ?? new Map<Level, number>();
    bar.set(level, (bar.get(level) ?? 0) + count);
    counts.set(endMs, bar);
    totals.set(level, (totals.get(level) ?? 0) + count);
  }
  const bars: Bar[] = [];
  const step = stepSeconds * 1000;
  for (let endMs = range.startMs; endMs <= range.endMs; endMs += step) {
    const bar = counts.get(endMs) ?? new Map<Level, number>();
    const total = [...bar.values()].reduce((sum, value) => sum + value, 0);
    bars.push({ startMs: endMs - step, endMs, counts: bar, total });
  }
  return {
    bars,
    totals: levels.flatMap((level) => {
      const total = totals.get(level);
      return total === undefined ? [] : [[level, total] as const];
    }),
    highest: bars.reduce((most, { total }) => Math.max(most, total), 0),
  };
}
