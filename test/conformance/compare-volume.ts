import { pointsOf } from './compare-samples.js';
import { asArray, asObject, canonical, setDifference, type Json } from './json.js';

const valueTolerance = 0.25;
const timeToleranceSeconds = 1;

/** Whether a number of bytes is that of Loki within 25 %, and what rounding can make of it. */
export function isAsBig(wanted: number, got: number, rounding = 0): boolean {
  return Math.abs(got - wanted) <= valueTolerance * wanted + rounding;
}

/** Volumes: the same label sets and number of points; values within 25 %, times of ranges within a second. */
export function compareVolume(wanted: Json, got: Json): string | undefined {
  const [wantedData, gotData] = [asObject(wanted['data']), asObject(got['data'])];
  if (wantedData['resultType'] !== gotData['resultType'])
    return `resultType ${canonical(gotData['resultType'])}, Loki ${canonical(wantedData['resultType'])}`;
  const [wantedSeries, gotSeries] = [
    asArray(wantedData['result']).map(asObject),
    asArray(gotData['result']).map(asObject),
  ];
  const keyOf = (series: Json): string => canonical(series['metric']);
  const labels = setDifference(wantedSeries.map(keyOf), gotSeries.map(keyOf));
  if (labels !== undefined) return `series: ${labels}`;
  const byKey = new Map(gotSeries.map((series) => [keyOf(series), series]));
  for (const series of wantedSeries) {
    const [wantedPoints, gotPoints] = [pointsOf(series), pointsOf(byKey.get(keyOf(series)) ?? {})];
    if (wantedPoints.length !== gotPoints.length)
      return `${gotPoints.length} points, Loki ${wantedPoints.length}`;
    for (const [index, point] of wantedPoints.entries()) {
      const [wantedTime, wantedValue] = asArray(point).map(Number);
      const [gotTime, gotValue] = asArray(gotPoints[index]).map(Number);
      if (
        wantedTime === undefined ||
        wantedValue === undefined ||
        gotTime === undefined ||
        gotValue === undefined
      )
        return 'a point is no pair';
      const isTimed = 'values' in series;
      if (isTimed && Math.abs(gotTime - wantedTime) > timeToleranceSeconds)
        return `time ${gotTime}, Loki ${wantedTime}`;
      if (!isAsBig(wantedValue, gotValue)) return `in ${keyOf(series)}: ${gotValue}, Loki ${wantedValue}`;
    }
  }
  return undefined;
}
