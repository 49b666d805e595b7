import { asArray, asObject, asText, canonical, setDifference, type Json } from './json.js';

const tolerance = 1e-9;

/** Matrix, vector and scalar: the same label sets, times and values. */
export function compareSamples(isOrdered: boolean, wanted: Json, got: Json): string | undefined {
  if (wanted['resultType'] === 'scalar') return comparePoint(inSeconds(wanted['result']), got['result']);
  const [wantedSeries, gotSeries] = [
    asArray(wanted['result']).map(asObject),
    asArray(got['result']).map(asObject),
  ];
  const keyOf = (series: Json): string => canonical(series['metric']);
  const labels = setDifference(wantedSeries.map(keyOf), gotSeries.map(keyOf));
  if (labels !== undefined) return `series: ${labels}`;
  const byKey = new Map(gotSeries.map((series) => [keyOf(series), series]));
  for (const [index, series] of wantedSeries.entries()) {
    const difference = comparePoints(pointsOf(series), pointsOf(byKey.get(keyOf(series)) ?? {}));
    if (difference !== undefined) return `in ${keyOf(series)}: ${difference}`;
    if (!isOrdered) continue;
    const value = comparePoints(pointsOf(series), pointsOf(gotSeries[index] ?? {}));
    if (value !== undefined) return `order at ${index}: ${value}`;
  }
  return undefined;
}

/** The recorded Loki writes whole milliseconds here and seconds everywhere else; other builds do not (docs/differences.md). */
function inSeconds(scalar: unknown): readonly unknown[] {
  const [ms, value] = asArray(scalar);
  return [Number(ms) / 1000, value];
}

/** The points of a series, whether it is one of a matrix or of a vector. */
export function pointsOf(series: Json): readonly unknown[] {
  return 'values' in series ? asArray(series['values']) : [series['value']];
}

function comparePoints(wanted: readonly unknown[], got: readonly unknown[]): string | undefined {
  if (wanted.length !== got.length)
    return `${got.length} points, Loki ${wanted.length}: ${canonical(got).slice(0, 120)} | ${canonical(wanted).slice(0, 120)}`;
  for (const [index, point] of wanted.entries()) {
    const difference = comparePoint(point, got[index]);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

function comparePoint(wanted: unknown, got: unknown): string | undefined {
  const [wantedTime, wantedValue] = asArray(wanted);
  const [gotTime, gotValue] = asArray(got);
  const isSame =
    wantedTime === gotTime && typeof gotValue === 'string' && sameValue(asText(wantedValue), gotValue);
  return isSame ? undefined : `point ${canonical(got)}, Loki ${canonical(wanted)}`;
}

function sameValue(wanted: string, got: string): boolean {
  if (wanted === got) return true;
  const [a, b] = [Number(wanted), Number(got)];
  return (
    Number.isFinite(a) &&
    Number.isFinite(b) &&
    Math.abs(a - b) <= tolerance * Math.max(Math.abs(a), Math.abs(b))
  );
}
