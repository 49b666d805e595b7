import { differing, listDifference, type Difference } from './difference.js';
import { asArray, asObject, asText, canonical, type Json } from './json.js';
import { pointsOf, seriesKey } from './samples.js';

/** Loki's volumes depend on how it compresses and cuts chunks. */
const valueTolerance = 0.25;
const timeToleranceSeconds = 1;

/** Compares index statistics: streams and entries exactly, bytes about. */
export function compareStatistics(reference: Json, candidate: Json): Difference | undefined {
  const isSame =
    reference['streams'] === candidate['streams'] && reference['entries'] === candidate['entries'];
  // Loki rounds the bytes of each chunk to KiB.
  const rounding = 512 * Number(reference['chunks']);
  const { bytes } = reference;
  return isSame && (bytes === undefined || isAsBig(Number(bytes), Number(candidate['bytes']), rounding))
    ? undefined
    : differing('statistics', canonical(reference), canonical(candidate));
}

/** Compares volumes: the same label sets and number of points; values within 25 %, times of ranges within a second. */
export function compareVolumes(reference: Json, candidate: Json): Difference | undefined {
  const [data, otherData] = [asObject(reference['data']), asObject(candidate['data'])];
  if (data['resultType'] !== otherData['resultType'])
    return differing('result type', asText(data['resultType']), asText(otherData['resultType']));
  const [series, others] = [
    asArray(data['result']).map(asObject),
    asArray(otherData['result']).map(asObject),
  ];
  const labels = listDifference('series', series.map(seriesKey), others.map(seriesKey));
  if (labels !== undefined) return labels;
  const byKey = new Map(others.map((other) => [seriesKey(other), other]));
  for (const one of series) {
    const key = seriesKey(one);
    const [points, otherPoints] = [pointsOf(one), pointsOf(byKey.get(key) ?? {})];
    if (points.length !== otherPoints.length)
      return differing('number of points', String(points.length), String(otherPoints.length), key);
    for (const [index, point] of points.entries())
      if (!isNear(point, otherPoints[index], 'values' in one))
        return differing('volume', canonical(point), canonical(otherPoints[index]), key);
  }
  return undefined;
}

function isNear(reference: unknown, candidate: unknown, isTimed: boolean): boolean {
  const [time = NaN, value = NaN] = asArray(reference).map(Number);
  const [otherTime = NaN, other = NaN] = asArray(candidate).map(Number);
  const isAtTime = !isTimed || Math.abs(otherTime - time) <= timeToleranceSeconds;
  return isAtTime && isAsBig(value, other);
}

/** True when a number of bytes is within 25 % of the reference, and within what rounding can add. */
function isAsBig(reference: number, candidate: number, rounding = 0): boolean {
  return Math.abs(candidate - reference) <= valueTolerance * reference + rounding;
}
