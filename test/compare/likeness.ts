import type { Answered } from '../../core/comparison/answers.js';
import { asArray, asObject, asText, canonical } from '../../core/comparison/json.js';

const volumeTolerance = 0.25;
const valueTolerance = 1e-6;
/** The least number of lines of a pattern that Loki shows. */
const fewestLines = 30;

function resultsOf({ body }: Answered): readonly Readonly<Record<string, unknown>>[] {
  return asArray(asObject(asObject(body)['data'])['result']).map(asObject);
}

/** The same series and number of points, and sums that are about the same. */
export function sameSums(wanted: Answered, got: Answered): boolean {
  const [wantedSums, gotSums] = [wanted, got].map((answer) =>
    resultsOf(answer).map((item) => {
      const points = asArray(item['values']);
      return {
        points: points.length,
        sum: points.reduce<number>((sum, point) => sum + Number(asArray(point)[1]), 0),
      };
    }),
  );
  if (wantedSums === undefined || gotSums === undefined || wantedSums.length !== gotSums.length) return false;
  const sorted = (sums: typeof wantedSums): typeof wantedSums => sums.toSorted((a, b) => a.sum - b.sum);
  const others = sorted(gotSums);
  return sorted(wantedSums).every(
    ({ points, sum }, index) =>
      points === others[index]?.points && Math.abs(sum - others[index].sum) <= volumeTolerance * sum,
  );
}

function pointsIn({ value, values }: Readonly<Record<string, unknown>>): readonly unknown[] {
  return value === undefined ? asArray(values) : [value];
}

/** Whether the values at each time are the same, whoever has them. */
export function sameValues(wanted: Answered, got: Answered): boolean {
  const texts = [wanted, got].map((answer) =>
    resultsOf(answer)
      .flatMap(pointsIn)
      .map((point) => JSON.stringify(point))
      .sort()
      .join(),
  );
  return texts[0] === texts[1];
}

/** Sums of the values by time and by labels that have a value. */
function sumsByPoint(answer: Answered): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const item of resultsOf(answer)) {
    if (item['metric'] === undefined) continue;
    const labels = Object.entries(asObject(item['metric'])).filter(([, value]) => value !== '');
    for (const point of pointsIn(item)) {
      const [time, value] = asArray(point);
      const key = `${Number(time)} ${canonical(Object.fromEntries(labels))}`;
      sums.set(key, (sums.get(key) ?? 0) + Number(asText(value)));
    }
  }
  return sums;
}

/**
 * Whether both have the same points with nearly the same values.
 * @param hasRemainder whether values are remainders, which begin anew at 0 a little beyond their divisor: then any value may be 0
 */
export function isNearly(wanted: Answered, got: Answered, hasRemainder: boolean): boolean {
  const [wantedSums, gotSums] = [sumsByPoint(wanted), sumsByPoint(got)];
  return (
    wantedSums.size > 0 &&
    wantedSums.size === gotSums.size &&
    [...wantedSums].every(([key, value]) => {
      const other = gotSums.get(key);
      if (other === undefined) return false;
      if (Object.is(value, other) || (hasRemainder && (value === 0 || other === 0))) return true;
      return Math.abs(value - other) <= valueTolerance * Math.max(Math.abs(value), Math.abs(other));
    })
  );
}

/** Whether the proxy has all points of Loki, with values that are no less. */
export function hasAllOf(wanted: Answered, got: Answered): boolean {
  const [wantedSums, gotSums] = [sumsByPoint(wanted), sumsByPoint(got)];
  return (
    wantedSums.size > 0 && [...wantedSums].every(([key, value]) => (gotSums.get(key) ?? -Infinity) >= value)
  );
}

/** Whether the proxy has the patterns of Loki, and no more lines in each than arrived late. */
export function hasLatePatterns(wanted: Answered, got: Answered, late: number): boolean {
  const [wantedLines, gotLines] = [linesByPattern(wanted), linesByPattern(got)];
  return (
    [...wantedLines.keys()].every((key) => gotLines.has(key)) &&
    [...gotLines].every(([key, lines]) => {
      const more = lines - (wantedLines.get(key) ?? fewestLines - 1);
      return more >= 0 && more <= late;
    })
  );
}

function linesByPattern({ body }: Answered): ReadonlyMap<string, number> {
  const lines = new Map<string, number>();
  for (const item of asArray(asObject(body)['data']).map(asObject)) {
    const { pattern, level, samples } = item;
    const sum = asArray(samples).reduce<number>((before, sample) => before + Number(asArray(sample)[1]), 0);
    const key = canonical([level, pattern]);
    lines.set(key, (lines.get(key) ?? 0) + sum);
  }
  return lines;
}
