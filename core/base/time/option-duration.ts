/**
 * Durations as operators write them: Go's form (`1h30m`, `1.5s`, `250ms`, `0`), and with `long` also days, weeks and years (`90d`, `1y`),
 * which Loki accepts only in tenant limits (docs/protocol/answers.md#published-tenant-limits).
 */
import { goUnits, longUnits, parseGoDuration } from './index.js';

/** Milliseconds of a duration; undefined when it cannot be parsed or has a sign. */
export function parseDuration(text: string, form: 'go' | 'long' = 'go'): number | undefined {
  const nanoseconds = /^[+-]/.test(text)
    ? undefined
    : parseGoDuration(text, form === 'long' ? longUnits : goUnits);
  return nanoseconds === undefined ? undefined : Number(nanoseconds) / 1e6;
}

/** The shortest Go form that parses to the same number of milliseconds. */
export function printDuration(ms: number): string {
  if (ms === 0) return '0s';
  for (const [unit, size] of [
    ['h', 3_600_000],
    ['m', 60_000],
    ['s', 1000],
  ] as const) {
    if (ms % size === 0) return `${String(ms / size)}${unit}`;
  }
  return Number.isInteger(ms) ? `${String(ms)}ms` : `${String(Math.round(ms * 1e6))}ns`;
}
