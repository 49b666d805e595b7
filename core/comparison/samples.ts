import { differing, listDifference, type Difference } from './difference.js';
import { asArray, asObject, asText, canonical, type Json } from './json.js';

/** Two values are equal when they differ by no more than this part of them: sums of floats depend on the order of addition. */
const tolerance = 1e-9;

/** Compares matrices, vectors and scalars: label sets, times and values. */
export function compareSamples(isOrdered: boolean, reference: Json, candidate: Json): Difference | undefined {
  if (reference['resultType'] === 'scalar')
    return comparePoint(inSeconds(reference['result']), inSeconds(candidate['result']));
  const [series, others] = [reference, candidate].map((data) => asArray(data['result']).map(asObject));
  if (series === undefined || others === undefined) return undefined;
  const keys = series.map(seriesKey);
  const labels = listDifference('series', keys, others.map(seriesKey));
  if (labels !== undefined) return labels;
  const byKey = new Map(others.map((other) => [seriesKey(other), other]));
  for (const [index, one] of series.entries()) {
    const key = keys[index] ?? '';
    const difference = comparePoints(pointsOf(one), pointsOf(byKey.get(key) ?? {}));
    if (difference !== undefined) return { ...difference, where: key };
    const other = others[index];
    if (isOrdered && other !== undefined && comparePoints(pointsOf(one), pointsOf(other)) !== undefined)
      return differing('order', key, seriesKey(other), `position ${index}`);
  }
  return undefined;
}

/** The labels of a series as text. */
export function seriesKey(series: Json): string {
  return canonical(series['metric']);
}

/** The point of a scalar. Some builds of Loki write its time in milliseconds, and all other times in seconds (docs/differences.md). */
function inSeconds(scalar: unknown): readonly unknown[] {
  const [time, value] = asArray(scalar);
  return [Number(time) > 1e11 ? Number(time) / 1000 : Number(time), value];
}

/** The points of a series of a matrix or of a vector. */
export function pointsOf(series: Json): readonly unknown[] {
  return 'values' in series ? asArray(series['values']) : [series['value']];
}

function comparePoints(reference: readonly unknown[], candidate: readonly unknown[]): Difference | undefined {
  if (reference.length !== candidate.length)
    return differing(
      'number of points',
      `${reference.length}: ${canonical(reference.slice(0, 10))}`,
      `${candidate.length}: ${canonical(candidate.slice(0, 10))}`,
    );
  for (const [index, point] of reference.entries()) {
    const difference = comparePoint(point, candidate[index]);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

function comparePoint(reference: unknown, candidate: unknown): Difference | undefined {
  const [time, value] = asArray(reference);
  const [otherTime, other] = asArray(candidate);
  return time === otherTime && typeof other === 'string' && isSameValue(asText(value), other)
    ? undefined
    : differing('value', canonical(reference), canonical(candidate));
}

function isSameValue(reference: string, candidate: string): boolean {
  if (reference === candidate) return true;
  const [a, b] = [Number(reference), Number(candidate)];
  return (
    Number.isFinite(a) &&
    Number.isFinite(b) &&
    Math.abs(a - b) <= tolerance * Math.max(Math.abs(a), Math.abs(b))
  );
}
