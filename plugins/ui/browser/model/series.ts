import { levelOf } from './levels.js';
import type { Labels, WireSeries } from './wire.js';

export interface SeriesPoint {
  readonly ms: number;
  readonly value: number;
}
export interface Series {
  readonly name: string;
  readonly labels: Labels;
  /** The CSS class that gives the series its colour everywhere. */
  readonly colour: string;
  readonly points: readonly SeriesPoint[];
  /** Statistics of the finite values; undefined if there are none. */
  readonly figures: SeriesFigures | undefined;
}
export interface SeriesFigures {
  readonly last: number;
  readonly min: number;
  readonly max: number;
  readonly mean: number;
}

/** The series of an answer, greatest mean first. */
export function seriesOf(answer: readonly WireSeries[]): readonly Series[] {
  const all = answer.map(({ metric, values }): Series => {
    const points = values.map(([seconds, text]) => ({ ms: seconds * 1000, value: readValue(text) }));
    return { name: nameOf(metric), labels: metric, colour: '', points, figures: figuresOf(points) };
  });
  all.sort((a, b) => (b.figures?.mean ?? -Infinity) - (a.figures?.mean ?? -Infinity));
  const isByLevel = areByLevel(answer);
  return all.map((one, position) => ({
    ...one,
    colour: isByLevel ? `level-${levelOf(levelText(one.labels))}` : `series-${position % colours}`,
  }));
}

/** Number of distinct colours of series: the CSS variables from `--series-0` on. */
export const colours = 24;

/** True if series differ only in their level; they then have the usual colours of levels. */
function areByLevel(series: readonly WireSeries[]): boolean {
  const seen = series.map(({ metric }) => levelOf(levelText(metric)));
  return (
    new Set(seen).size === seen.length &&
    seen.length > 0 &&
    series.some(({ metric }) => levelText(metric) !== undefined)
  );
}

function levelText(labels: Labels): string | undefined {
  return labels['detected_level'] ?? labels['level'];
}

/** The series whose name contains all words of a search, ignoring case. */
export function matching(series: readonly Series[], search: string): readonly Series[] {
  const words = search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  if (words.length === 0) return series;
  return series.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)));
}

/** The series with colours of their own, as long as there are as many: the later one of two with the same gets one that is free. */
export function withOwnColours(series: readonly Series[]): readonly Series[] {
  const taken = new Set<string>();
  const free = Array.from({ length: colours }, (_, index) => `series-${index}`).filter(
    (colour) => !series.some((one) => one.colour === colour),
  );
  return series.map((one) => {
    const colour = taken.has(one.colour) ? (free.shift() ?? one.colour) : one.colour;
    taken.add(colour);
    return colour === one.colour ? one : { ...one, colour };
  });
}

/** The points of several series as columns over the same times; null where a series has no finite value. */
export interface Columns {
  /** Unix seconds, ascending. */
  readonly seconds: readonly number[];
  readonly values: readonly (readonly (number | null)[])[];
}

/** Columns of all series. Where points are more than a step apart, a time without values is put between them, which breaks lines. */
export function columnsOf(series: readonly Series[], stepMs: number): Columns {
  const moments = [...new Set(series.flatMap(({ points }) => points.map(({ ms }) => ms)))].sort(
    (a, b) => a - b,
  );
  const times: number[] = [];
  for (const ms of moments) {
    const last = times.at(-1);
    if (last !== undefined && ms - last > stepMs * 1.5) times.push(last + stepMs);
    times.push(ms);
  }
  const values = series.map(({ points }) => {
    const known = new Map(points.map(({ ms, value }) => [ms, value]));
    return times.map((ms) => {
      const value = known.get(ms);
      return value !== undefined && Number.isFinite(value) ? value : null;
    });
  });
  return { seconds: times.map((ms) => ms / 1000), values };
}

/** The columns of series upon each other, the first one at the bottom; a series without a value adds nothing. */
export function stacked({ seconds, values }: Columns): Columns {
  const sums = seconds.map(() => 0);
  return {
    seconds,
    values: values.map((column) =>
      column.map((value, index) => {
        const sum = (sums[index] ?? 0) + (value ?? 0);
        sums[index] = sum;
        return values.some((one) => one[index] !== null && one[index] !== undefined) ? sum : null;
      }),
    ),
  };
}

/** The places of points without a neighbour, which a line does not show. */
export function lonePoints(column: readonly (number | null)[]): number[] {
  return column.flatMap((value, index) =>
    value !== null && (column[index - 1] ?? null) === null && (column[index + 1] ?? null) === null
      ? [index]
      : [],
  );
}

/** The columns with what a logarithmic scale can show: values above zero. */
export function aboveZero({ seconds, values }: Columns): Columns {
  return {
    seconds,
    values: values.map((column) => column.map((value) => (value !== null && value > 0 ? value : null))),
  };
}

/** `{a="b", c="d"}`. */
export function nameOf(metric: Labels): string {
  const labels = Object.entries(metric).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${labels.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(', ')}}`;
}

/** Parses numbers in the API's format, including infinities. */
function readValue(text: string): number {
  if (text === '+Inf') return Infinity;
  return text === '-Inf' ? -Infinity : Number(text);
}

function figuresOf(points: readonly SeriesPoint[]): SeriesFigures | undefined {
  const values = points.map(({ value }) => value).filter(Number.isFinite);
  const last = values.at(-1);
  if (last === undefined) return undefined;
  return {
    last,
    min: values.reduce((least, value) => Math.min(least, value)),
    max: values.reduce((most, value) => Math.max(most, value)),
    mean: values.reduce((sum, value) => sum + value, 0) / values.length,
  };
}
