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

const colours = 8;

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

/** The segments of a series that can be drawn as a line: adjacent points one step apart, all finite. */
export function piecesOf(
  points: readonly SeriesPoint[],
  stepMs: number,
): readonly (readonly SeriesPoint[])[] {
  const pieces: SeriesPoint[][] = [];
  let last: SeriesPoint | undefined;
  for (const point of points) {
    if (!Number.isFinite(point.value)) {
      last = undefined;
      continue;
    }
    const isNext = last !== undefined && point.ms - last.ms <= stepMs * 1.5;
    if (isNext) pieces.at(-1)?.push(point);
    else pieces.push([point]);
    last = point;
  }
  return pieces;
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
