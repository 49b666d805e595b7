/**
 * Durations as operators write them: Go's form (`1h30m`, `1.5s`, `250ms`, `0`), and with `long` also days, weeks and years (`90d`, `1y`),
 * which Loki accepts only in tenant limits (docs/protocol/answers.md#published-tenant-limits).
 */

const UNIT_MS: ReadonlyMap<string, number> = new Map([
  ['ns', 1e-6],
  ['us', 1e-3],
  ['µs', 1e-3],
  ['μs', 1e-3],
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
]);
const LONG_UNIT_MS: ReadonlyMap<string, number> = new Map([
  ...UNIT_MS,
  ['d', 86_400_000],
  ['w', 604_800_000],
  ['y', 31_536_000_000],
]);

// The next letter ends each part, so the expression runs in linear time.
const PART = /(\d+(?:\.\d*)?|\.\d+)([a-zµμ]+)/y;

/** Milliseconds of a duration; undefined when it cannot be parsed or is negative. */
export function parseDuration(text: string, form: 'go' | 'long' = 'go'): number | undefined {
  if (text === '0') return 0;
  const units = form === 'long' ? LONG_UNIT_MS : UNIT_MS;
  let total = 0;
  let at = 0;
  while (at < text.length) {
    PART.lastIndex = at;
    const part = PART.exec(text);
    const unit = part?.[2] === undefined ? undefined : units.get(part[2]);
    if (part === null || unit === undefined) return undefined;
    total += Number(part[1]) * unit;
    at = PART.lastIndex;
  }
  return text === '' || !Number.isFinite(total) ? undefined : roundNanos(total);
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

/** Sums of parts such as 0.3s are inexact binary fractions, so they are rounded to a nanosecond, the finest unit. */
function roundNanos(ms: number): number {
  return Math.round(ms * 1e6) / 1e6;
}
