/** Ways out of a failed query, read from the server's text. */
import { fixedRange, lastRange, rangeLengths, rangeTexts } from './asked-range.js';
import { formatCount } from '../format.js';
import type { QueryState, RangeName } from '../query-state.js';
import { stepOf, type TimeRange } from '../time-range.js';

/** A change that mends an error or an empty answer. */
export type Remedy =
  | { readonly change: 'sum-by' | 'without-label'; readonly name: string }
  | { readonly change: 'without-stage'; readonly value: string }
  | {
      readonly change: 'rename';
      readonly name: string;
      readonly value: string;
      readonly of: 'stream' | 'row';
    }
  | { readonly change: 'skip-errors' }
  | { readonly change: 'fill-range'; readonly name: string; readonly value: string }
  | { readonly change: 'any-stream'; readonly name: string };

/** One click that mends a query: other fields, a change on its tree, or the labels to choose from. */
export type Offer =
  | { readonly title: string; readonly part: Partial<QueryState> }
  | { readonly title: string; readonly change: Remedy }
  | { readonly title: string; readonly opens: 'labels' };

/** True for an answer with more series than are allowed, which a sum by one label makes few. */
export function hasTooManySeries(text: string): boolean {
  return /number of series|series limit exceeded|too many (?:unique )?series/i.test(text);
}

/** True for a selector that streams without any of its labels would match. */
export function wantsMatcher(text: string): boolean {
  return /at least one regexp or equality matcher/.test(text);
}

/** The variable between the brackets of a range, which nobody has filled in; undefined for another error. */
function unfilledRange(text: string): string | undefined {
  if (/: empty duration string$/.test(text)) return '';
  return /: not a valid duration string: "((?:\$|[a-z_])[\w{}:$.]*)"$/i.exec(text)?.[1];
}

/** The offers for an error text; `labels` are labels with few values, the best first. */
export function offersFor(
  text: string,
  range: TimeRange | string,
  nowMs: number,
  labels: readonly string[],
): readonly Offer[] {
  if (hasTooManySeries(text))
    return labels.map((name) => ({ title: `Sum by ${name}`, change: { change: 'sum-by', name } }));
  if (wantsMatcher(text))
    return [
      ...labels.map((name) => ({
        title: `Any ${name}: ${name}=~".+"`,
        change: { change: 'any-stream', name } as const,
      })),
      { title: 'Choose labels', opens: 'labels' },
    ];
  const unfilled = unfilledRange(text);
  if (unfilled !== undefined) return filledRanges(unfilled, range);
  if (/^pipeline error|__error__/.test(text))
    return [{ title: 'Skip lines with errors: | __error__=""', change: { change: 'skip-errors' } }];
  const entries = /max_entries_limit_per_query \(\d+ > (\d+)\)/.exec(text);
  if (entries !== null) {
    const limit = Number(entries[1]);
    return [{ title: `Ask for ${formatCount(limit)} lines`, part: { limit } }];
  }
  if (typeof range === 'string') return [];
  const length = /time range exceeds the limit \(query length: [^,]+, limit: ([^)]+)\)/.exec(text);
  if (length !== null) return longestRange(durationMs(length[1] ?? ''), range, nowMs);
  return isTooMuch(text) ? shorterRanges(range, nowMs) : [];
}

/** True if less time would make the query cheap enough. */
function isTooMuch(text: string): boolean {
  return /timed out|time-?out|deadline|too many bytes|too many outstanding|row limit exceeded|shorten|shorter|narrow (?:the|down)|decrease the duration/i.test(
    text,
  );
}

/** Number of points of a chart whose step is offered for a range. */
const points = 120;
const minuteSeconds = 60;

/** A variable of a range as a step of the chart, and as the whole range. */
function filledRanges(name: string, range: TimeRange | string): readonly Offer[] {
  const fill = (value: string, what: string): Offer => ({
    title: `Use [${value}]${what}`,
    change: { change: 'fill-range', name, value },
  });
  if (typeof range === 'string') return [fill('5m', '')];
  const whole = fill(plainDuration((range.endMs - range.startMs) / 1_000), ', the whole range');
  if (/range(?!_interval)/i.test(name) && !/rate/i.test(name)) return [whole];
  return [fill(plainDuration(Math.max(minuteSeconds, stepOf(range, points))), ''), whole];
}

/** Seconds as LogQL writes a duration, in the largest unit that has them whole. */
function plainDuration(seconds: number): string {
  const whole = Math.max(1, Math.ceil(seconds));
  const [unit, size] = durationUnits.find(([, one]) => whole % one === 0) ?? ['s', 1];
  return `${whole / size}${unit}`;
}

const durationUnits = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
] as const;

function longestRange(ms: number, { endMs }: TimeRange, nowMs: number): readonly Offer[] {
  if (!(ms > 0)) return [];
  const part = isNow(endMs, nowMs) ? lastRange(ms) : fixedRange({ startMs: endMs - ms, endMs });
  return [{ title: `Longest allowed range: ${durationText(ms)}`, part }];
}

function shorterRanges({ startMs, endMs }: TimeRange, nowMs: number): readonly Offer[] {
  const length = endMs - startMs;
  const named = Object.entries(rangeLengths).toReversed() as [Exclude<RangeName, 'custom'>, number][];
  const chosen = [4, 24].map((part) => named.find(([, ms]) => ms <= length / part));
  return [...new Set(chosen)]
    .filter((one) => one !== undefined)
    .map(([name, ms]) =>
      isNow(endMs, nowMs)
        ? { title: rangeTexts[name], part: { range: name, from: '', to: '' } }
        : { title: `The last ${durationText(ms)} of it`, part: fixedRange({ startMs: endMs - ms, endMs }) },
    );
}

/** A range counts as ending now for the minutes in which one reads an error. */
function isNow(endMs: number, nowMs: number): boolean {
  return nowMs - endMs < 300_000;
}

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
  y: 31_536_000_000,
};

/** Milliseconds of a duration as Go and Loki print it: `721h0m0s`, `30d1h`. */
function durationMs(text: string): number {
  return [...text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhdwy])/g)].reduce(
    (sum, [, count, unit = '']) => sum + Number(count) * (unitMs[unit] ?? 0),
    0,
  );
}

/** `30 d 1 h`: at most two units. */
export function durationText(ms: number): string {
  const parts: string[] = [];
  let rest = ms;
  for (const [unit, size] of [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['min', 60_000],
    ['s', 1_000],
  ] as const) {
    const count = Math.floor(rest / size);
    if (count > 0 && parts.length < 2) parts.push(`${count} ${unit}`);
    rest -= count * size;
  }
  return parts.length === 0 ? `${Math.round(ms)} ms` : parts.join(' ');
}
