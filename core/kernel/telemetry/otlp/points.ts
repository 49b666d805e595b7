/** Measurements as OTLP/HTTP has them in JSON: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding */
import type { Measurements } from '../added-up.js';
import { metricPrefix } from '../meters.js';

export interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue: string } | { readonly intValue: string };
}

/** Nanoseconds since the epoch, as text. */
export interface Times {
  /** Since when counters have counted. */
  readonly startTimeUnixNano: string;
  readonly timeUnixNano: string;
}

interface Point {
  readonly attributes: readonly Attribute[];
}

/** A metric with some or all of its points. */
export type OtlpMetric = Readonly<Record<string, unknown>>;

type Measured = Measurements[number];
/** prom-client's types leave out the names that values of histograms have. */
interface Value {
  readonly value: number;
  readonly labels: Readonly<Partial<Record<string, string | number>>>;
  readonly metricName?: string;
}

/** The labels of scrapes, where OTLP has other names for them (docs/protocol/operation.md#pushed-metrics). */
const attributeNames: ReadonlyMap<string, string> = new Map([
  ['system', 'ref.api.system'],
  ['direction', 'proxy.direction'],
  ['endpoint', 'ref.request.type'],
  ['route', 'http.route'],
  ['status', 'http.response.status_code'],
]);
/** AGGREGATION_TEMPORALITY_CUMULATIVE: what a lost push did not tell, the next one does. */
const cumulative = 2;

export function stringAttribute(key: string, stringValue: string): Attribute {
  return { key, value: { stringValue } };
}

/**
 * Metrics in batches of at most so many points, one batch made for each pull. Names without the prefix are left out: each is told with
 * it already.
 */
export function* batches(
  measurements: Measurements,
  times: Times,
  mostPoints: number,
): Generator<readonly OtlpMetric[]> {
  let batch: OtlpMetric[] = [];
  let room = mostPoints;
  for (const measured of measurements) {
    if (!measured.name.startsWith(metricPrefix)) continue;
    const { points, wrap } = shapeOf(measured, times);
    for (let from = 0; from < points.length;) {
      const some = points.slice(from, from + room);
      batch.push({ name: measured.name, description: measured.help, ...wrap(some) });
      from += some.length;
      room -= some.length;
      if (room > 0) continue;
      yield batch;
      [batch, room] = [[], mostPoints];
    }
  }
  if (batch.length > 0) yield batch;
}

interface Shape {
  readonly points: readonly Point[];
  readonly wrap: (points: readonly Point[]) => OtlpMetric;
}

function shapeOf(measured: Measured, times: Times): Shape {
  const values: readonly Value[] = measured.values;
  // prom-client's types know the kinds of metrics by numbers, its data by names.
  switch (String(measured.type)) {
    case 'histogram':
      return {
        points: histogramPoints(measured.name, values, times),
        wrap: (dataPoints) => ({ histogram: { aggregationTemporality: cumulative, dataPoints } }),
      };
    case 'counter':
      return {
        points: values.map((value) => ({ ...numberPoint(value), ...times })),
        wrap: (dataPoints) => ({
          sum: { aggregationTemporality: cumulative, isMonotonic: true, dataPoints },
        }),
      };
    default:
      return {
        points: values.map((value) => ({ ...numberPoint(value), timeUnixNano: times.timeUnixNano })),
        wrap: (dataPoints) => ({ gauge: { dataPoints } }),
      };
  }
}

function numberPoint({ value, labels }: Value): Point & { readonly asDouble: number } {
  return { attributes: attributesOf(Object.entries(labels)), asDouble: value };
}

interface Series {
  readonly labels: readonly (readonly [string, string | number | undefined])[];
  readonly upTo: [bound: number, count: number][];
  sum: number;
  count: number;
}

function histogramPoints(name: string, values: readonly Value[], times: Times): readonly Point[] {
  const all = new Map<string, Series>();
  for (const { value, labels, metricName } of values) {
    const own = Object.entries(labels).filter(([label]) => label !== 'le');
    const key = own.map(([label, text]) => `${label}\u0000${text ?? ''}`).join('\u0001');
    let series = all.get(key);
    if (series === undefined) all.set(key, (series = { labels: own, upTo: [], sum: 0, count: 0 }));
    if (metricName === `${name}_sum`) series.sum = value;
    else if (metricName === `${name}_count`) series.count = value;
    else if (labels['le'] !== '+Inf') series.upTo.push([Number(labels['le']), value]);
  }
  return [...all.values()].map(({ labels, upTo, sum, count }) => {
    upTo.sort(([a], [b]) => a - b);
    // Here each bucket counts what is below it too, there only its own.
    const counts = [...upTo.map(([, below]) => below), count];
    return {
      attributes: attributesOf(labels),
      ...times,
      count: String(count),
      sum,
      explicitBounds: upTo.map(([bound]) => bound),
      bucketCounts: counts.map((below, at) => String(below - (counts[at - 1] ?? 0))),
    };
  });
}

function attributesOf(labels: readonly (readonly [string, string | number | undefined])[]): Attribute[] {
  return labels.map(([label, value]) => {
    const [key, text] = [attributeNames.get(label) ?? label, String(value ?? '')];
    return label === 'status' && /^\d{1,9}$/.test(text)
      ? { key, value: { intValue: text } }
      : stringAttribute(key, text);
  });
}
