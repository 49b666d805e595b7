import type { Answered } from './answers.js';
import { asArray, asObject, asText, canonical, type Json } from './json.js';

const volumeTolerance = 0.25;
const valueTolerance = 1e-6;

function resultsOf({ body }: Answered): readonly Json[] {
  return asArray(asObject(asObject(body)['data'])['result']).map(asObject);
}

/** Numbers of points and sums of the values of all series, by sum. */
function sumsOf(answer: Answered): readonly { readonly points: number; readonly sum: number }[] {
  return resultsOf(answer)
    .map((item) => asArray(item['values']))
    .map((points) => ({
      points: points.length,
      sum: points.reduce<number>((sum, point) => sum + Number(asArray(point)[1]), 0),
    }))
    .sort((a, b) => a.sum - b.sum);
}

/** The same series and number of points, and sums that are about the same. */
export function sameSums(reference: Answered, candidate: Answered): boolean {
  const [sums, others] = [sumsOf(reference), sumsOf(candidate)];
  const isSame = ({ points, sum }: (typeof sums)[number], index: number): boolean =>
    points === others[index]?.points && Math.abs(sum - others[index].sum) <= volumeTolerance * sum;
  return sums.length === others.length && sums.every(isSame);
}

function pointsIn({ value, values }: Json): readonly unknown[] {
  return value === undefined ? asArray(values) : [value];
}

/** True when the values at each time are the same, whichever series has them. */
export function sameValues(reference: Answered, candidate: Answered): boolean {
  const [text, other] = [reference, candidate].map((answer) =>
    canonical(resultsOf(answer).flatMap(pointsIn).map(canonical).sort()),
  );
  return text === other;
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
 * True when both have the same points with nearly the same values.
 * @param hasRemainder true when values are remainders, which begin anew at 0 a little beyond their divisor: then any value may be 0
 */
export function isNearly(reference: Answered, candidate: Answered, hasRemainder: boolean): boolean {
  const [referenceSums, candidateSums] = [sumsByPoint(reference), sumsByPoint(candidate)];
  return (
    referenceSums.size > 0 &&
    referenceSums.size === candidateSums.size &&
    [...referenceSums].every(([key, value]) => {
      const other = candidateSums.get(key);
      if (other === undefined) return false;
      if (Object.is(value, other) || (hasRemainder && (value === 0 || other === 0))) return true;
      return Math.abs(value - other) <= valueTolerance * Math.max(Math.abs(value), Math.abs(other));
    })
  );
}

/** True when the candidate has all points of the reference, with values that are no less. */
export function hasAllOf(reference: Answered, candidate: Answered): boolean {
  const [referenceSums, candidateSums] = [sumsByPoint(reference), sumsByPoint(candidate)];
  return (
    referenceSums.size > 0 &&
    [...referenceSums].every(([key, value]) => (candidateSums.get(key) ?? -Infinity) >= value)
  );
}

/**
 * In what the series or streams of two answers differ: `labels missing *`, `labels extra`, `number of series` or `values`; undefined where
 * neither has any.
 */
export function differingLabels(reference: Answered, candidate: Answered): string | undefined {
  const [sets, others] = [labelSets(reference), labelSets(candidate)];
  if (sets.length + others.length === 0) return undefined;
  const names = differingNames(sets, others);
  if (names.length > 0) return `labels ${names.slice(0, 4).join(', ')}`;
  return sets.length === others.length ? 'values' : 'number of series';
}

function labelSets(answer: Answered): readonly Json[] {
  return resultsOf(answer).map(({ stream, metric }) => asObject(stream ?? metric));
}

const telling: ReadonlySet<string> = new Set([
  'detected_level',
  'level',
  'service_name',
  '__error__',
  '__error_details__',
  '__tenant_id__',
]);

/** Labels whose values, taken over all series, are not the same, and in what respect. */
function differingNames(reference: readonly Json[], candidate: readonly Json[]): readonly string[] {
  const [referenceKeys, candidateKeys] = [
    new Set(reference.map(canonical)),
    new Set(candidate.map(canonical)),
  ];
  const missing = reference.filter((set) => !candidateKeys.has(canonical(set)));
  const extra = candidate.filter((set) => !referenceKeys.has(canonical(set)));
  if (missing.length === 0 && extra.length === 0) return [];
  if (missing.length === 0 || extra.length === 0) return [missing.length > 0 ? 'missing' : 'extra'];
  const names = [...new Set([...missing, ...extra].flatMap((set) => Object.keys(set)))];
  const respects = names
    .filter((name) => valuesOf(missing, name) !== valuesOf(extra, name))
    .map((name) => {
      const shown = telling.has(name) ? name : name.endsWith('_extracted') ? '*_extracted' : '*';
      if (!missing.some((set) => name in set)) return `extra ${shown}`;
      return extra.some((set) => name in set) ? `value of ${shown}` : `missing ${shown}`;
    });
  return [...new Set(respects)].sort();
}

function valuesOf(sets: readonly Json[], name: string): string {
  return canonical([...new Set(sets.map((set) => canonical(set[name])))].sort());
}
