import { levelOf, levels, type Level } from './levels.js';
import type { TimeRange } from './time-range.js';
import type { WireSeries } from './wire.js';

/** Lines of one interval by level. */
export interface Bar extends TimeRange {
  readonly counts: ReadonlyMap<Level, number>;
  readonly total: number;
}
export interface Histogram {
  readonly bars: readonly Bar[];
  /** Lines of the whole range by level, most severe first; levels without lines are left out. */
  readonly totals: readonly (readonly [Level, number])[];
  /** Lines of the highest bar. */
  readonly highest: number;
}

/** Makes the bars of an answer counted by level: one for every step of the (aligned) range, including empty ones. */
export function histogramOf(series: readonly WireSeries[], range: TimeRange, stepSeconds: number): Histogram {
  const counts = new Map<number, Map<Level, number>>();
  const totals = new Map<Level, number>();
  for (const { metric, values } of series) {
    const level = levelOf(metric['detected_level'] ?? metric['level']);
    for (const [seconds, text] of values) {
      const value = Number(text);
      const endMs = seconds * 1000;
      const bar = counts.get(endMs) ?? new Map<Level, number>();
      bar.set(level, (bar.get(level) ?? 0) + value);
      counts.set(endMs, bar);
      totals.set(level, (totals.get(level) ?? 0) + value);
    }
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
