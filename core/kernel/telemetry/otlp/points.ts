/** Measurements as OTLP messages, written by OpenTelemetry's libraries (docs/protocol/operation.md#pushed-metrics). */
import { ValueType, type Attributes, type HrTime } from '@opentelemetry/api';
import { ProtobufMetricsSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  DataPointType,
  type DataPoint,
  type Histogram,
  type MetricData,
} from '@opentelemetry/sdk-metrics';
import { eachAtPace, Pacer } from '../../../base/pace/steps.js';
import type { Measurements } from '../exposition.js';

/** Timestamps in nanoseconds since the epoch. */
export interface Times {
  /** Start of the counters. */
  readonly startNs: bigint;
  readonly nowNs: bigint;
}

type Measured = Measurements[number];
/** prom-client's types lack the names that values of histograms have. */
interface Value {
  readonly value: number;
  readonly labels: Readonly<Partial<Record<string, string | number>>>;
  readonly metricName?: string;
}

/** Labels of scrapes that have other names in OTLP. */
const attributeNames: ReadonlyMap<string, string> = new Map([
  ['system', 'ref.api.system'],
  ['direction', 'proxy.direction'],
  ['endpoint', 'ref.request.type'],
  ['route', 'http.route'],
  ['status', 'http.response.status_code'],
]);

/** Encodes an `ExportMetricsServiceRequest`. */
export function requestOf(
  resource: readonly (readonly [key: string, value: string])[],
  metrics: readonly MetricData[],
): Buffer {
  const bytes = ProtobufMetricsSerializer.serializeRequest({
    resource: resourceFromAttributes(Object.fromEntries(resource)),
    scopeMetrics: [{ scope: { name: 'ref-proxy' }, metrics: [...metrics] }],
  });
  return Buffer.from(bytes ?? []);
}

/** Yields metrics in batches of at most this many points, each created in steps when it is pulled. */
export async function* batches(
  measurements: Measurements,
  times: Times,
  mostPoints: number,
): AsyncGenerator<readonly MetricData[]> {
  let batch: MetricData[] = [];
  let room = mostPoints;
  for (const measured of measurements) {
    const data = await dataOf(measured, times);
    for (let from = 0; from < data.dataPoints.length;) {
      const dataPoints = data.dataPoints.slice(from, from + room);
      // A subset of a metric's points has the metric's type.
      batch.push({ ...data, dataPoints } as MetricData);
      from += dataPoints.length;
      room -= dataPoints.length;
      if (room > 0) continue;
      yield batch;
      [batch, room] = [[], mostPoints];
    }
  }
  if (batch.length > 0) yield batch;
}

async function dataOf({ help, name, type, values }: Measured, times: Times): Promise<MetricData> {
  const data = {
    descriptor: { name, description: help, unit: '', valueType: ValueType.DOUBLE },
    // Cumulative, so that the next push makes up for a lost one.
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  // prom-client's types number the kinds of metrics, while its data names them.
  const kind = String(type);
  if (kind === 'histogram')
    return {
      ...{ ...data, dataPointType: DataPointType.HISTOGRAM },
      dataPoints: await histogramPoints(name, values, times),
    };
  const span = spanOf(times);
  const dataPoints = await inSteps(values as readonly Value[], ({ labels, value }) => ({
    ...{ ...span, value },
    attributes: attributesOf(Object.entries(labels)),
  }));
  return kind === 'counter'
    ? { ...data, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
    : { ...data, dataPointType: DataPointType.GAUGE, dataPoints };
}

/** Maps items with pauses for other work. */
async function inSteps<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  await eachAtPace(items, new Pacer(), (item) => results.push(work(item)));
  return results;
}

interface Series {
  readonly labels: readonly (readonly [string, string | number | undefined])[];
  readonly upTo: [bound: number, count: number][];
  sum: number;
  count: number;
}

async function histogramPoints(
  name: string,
  values: readonly Value[],
  times: Times,
): Promise<DataPoint<Histogram>[]> {
  const all = new Map<string, Series>();
  await inSteps(values, ({ value, labels, metricName }) => {
    const own = Object.entries(labels).filter(([label]) => label !== 'le');
    const key = own.map(([label, text]) => `${label}\u0000${text ?? ''}`).join('\u0001');
    let series = all.get(key);
    if (series === undefined) all.set(key, (series = { labels: own, upTo: [], sum: 0, count: 0 }));
    if (metricName === `${name}_sum`) series.sum = value;
    else if (metricName === `${name}_count`) series.count = value;
    else if (labels['le'] !== '+Inf') series.upTo.push([Number(labels['le']), value]);
  });
  const span = spanOf(times);
  return inSteps([...all.values()], ({ labels, upTo, sum, count }) => {
    upTo.sort(([a], [b]) => a - b);
    // Here the buckets are cumulative; in OTLP each counts only its own observations.
    const below = [...upTo.map(([, upToBound]) => upToBound), count];
    const buckets = {
      boundaries: upTo.map(([bound]) => bound),
      counts: below.map((upToBound, at) => upToBound - (below[at - 1] ?? 0)),
    };
    return { ...span, attributes: attributesOf(labels), value: { buckets, sum, count } };
  });
}

function spanOf({ startNs, nowNs }: Times): { readonly startTime: HrTime; readonly endTime: HrTime } {
  const time = (ns: bigint): HrTime => [Number(ns / 1_000_000_000n), Number(ns % 1_000_000_000n)];
  return { startTime: time(startNs), endTime: time(nowNs) };
}

function attributesOf(labels: readonly (readonly [string, string | number | undefined])[]): Attributes {
  return Object.fromEntries(
    labels.map(([label, value]) => {
      const text = String(value ?? '');
      const isStatus = label === 'status' && /^\d{1,9}$/.test(text);
      return [attributeNames.get(label) ?? label, isStatus ? Number(text) : text];
    }),
  );
}
