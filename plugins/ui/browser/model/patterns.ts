import { levelOf, type Level } from './levels.js';
import type { TimeRange } from './time-range.js';

/** A pattern with the number of its lines. */
export interface CountedPattern {
  readonly pattern: string;
  /** Undefined for a pattern of lines of any level. */
  readonly level: Level | undefined;
  readonly count: number;
  /** Its part of the lines of all patterns. */
  readonly share: number;
  readonly samples: readonly (readonly [seconds: number, count: number])[];
}

/** Patterns with the number of their lines, in descending order. */
export function countedPatterns(
  patterns: readonly {
    readonly pattern: string;
    readonly level?: string;
    readonly samples: readonly (readonly [seconds: number, count: number])[];
  }[],
): readonly CountedPattern[] {
  const counts = patterns.map(({ samples }) => samples.reduce((sum, [, count]) => sum + count, 0));
  const all = Math.max(
    1,
    counts.reduce((sum, count) => sum + count, 0),
  );
  return patterns
    .map(({ pattern, level, samples }, index) => {
      const count = counts[index] ?? 0;
      const known = level === undefined ? undefined : levelOf(level);
      return { pattern, level: known, count, share: count / all, samples };
    })
    .sort((a, b) => b.count - a.count);
}

/** The SVG path of a sparkline within a box. A step without a sample counts as zero; without any samples, the path is empty. */
export function sparkPath(
  samples: CountedPattern['samples'],
  { startMs, endMs }: TimeRange,
  stepSeconds: number,
  box: { readonly width: number; readonly height: number },
): string {
  const most = Math.max(...samples.map(([, count]) => count), 1);
  if (samples.length === 0 || endMs <= startMs) return '';
  const known = new Map(samples.map(([seconds, count]) => [Math.floor(seconds / stepSeconds), count]));
  const [first, last] = [startMs / 1000 / stepSeconds, endMs / 1000 / stepSeconds].map(Math.floor);
  if (first === undefined || last === undefined || last <= first) return '';
  const places: string[] = [];
  for (let bucket = first; bucket <= last; bucket += 1) {
    const x = ((bucket - first) / (last - first)) * box.width;
    const y = box.height - 1 - ((known.get(bucket) ?? 0) / most) * (box.height - 2);
    places.push(`${x.toFixed(1)} ${y.toFixed(1)}`);
  }
  return `M${places.join('L')}`;
}
