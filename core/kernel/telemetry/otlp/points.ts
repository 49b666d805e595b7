/** Measurements as OTLP messages, written by OpenTelemetry's libraries (docs/protocol/operation.md#pushed-metrics). */
import { ValueType, type Attributes, type HrTime } from '@opentelemetry/api';
import { ProtobufMetricsSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  DataPointType,
  type DataPoint,
  type MetricData,
} from '@opentelemetry/sdk-metrics';
import { eachAtPace, Pacer } from '../../../base/pace/steps.js';
import type { Labels, Measured, Measurements } from '../series.js';

/** Timestamps in nanoseconds since the epoch. */
export interface Times {
  /** Start of the counters. */
  readonly startNs: bigint;
  readonly nowNs: bigint;
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
  for (const metric of measurements) {
    const data = await dataOf(metric, times);
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

async function dataOf({ help, name, type, bounds, series }: Measured, times: Times): Promise<MetricData> {
  const data = {
    descriptor: { name, description: help, unit: '', valueType: ValueType.DOUBLE },
    // Cumulative, so that the next push makes up for a lost one.
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  const span = spanOf(times);
  const points = async <Value>(
    valueOf: (numbers: readonly number[]) => Value,
  ): Promise<DataPoint<Value>[]> => {
    const made: DataPoint<Value>[] = [];
    await eachAtPace(series, new Pacer(), ([labels, numbers]) => {
      made.push({ ...span, attributes: attributesOf(labels), value: valueOf(numbers) });
    });
    return made;
  };
  if (type === 'histogram') {
    // The last bound is infinite, and its number that of all observations.
    const boundaries = bounds.slice(0, -1).map(Number);
    const dataPoints = await points((numbers) => ({
      // Here the buckets are cumulative; in OTLP each counts only its own observations.
      buckets: {
        boundaries,
        counts: bounds.map((_, at) => (numbers[at] ?? 0) - (numbers[at - 1] ?? 0)),
      },
      sum: numbers[bounds.length] ?? 0,
      count: numbers[bounds.length + 1] ?? 0,
    }));
    return { ...data, dataPointType: DataPointType.HISTOGRAM, dataPoints };
  }
  const dataPoints = await points(([value = 0]) => value);
  return type === 'counter'
    ? { ...data, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
    : { ...data, dataPointType: DataPointType.GAUGE, dataPoints };
}

function spanOf({ startNs, nowNs }: Times): { readonly startTime: HrTime; readonly endTime: HrTime } {
  const time = (ns: bigint): HrTime => [Number(ns / 1_000_000_000n), Number(ns % 1_000_000_000n)];
  return { startTime: time(startNs), endTime: time(nowNs) };
}

function attributesOf(labels: Labels): Attributes {
  return Object.fromEntries(
    Object.entries(labels).map(([label, value]) => {
      const isStatus = label === 'status' && /^\d{1,9}$/.test(value);
      return [attributeNames.get(label) ?? label, isStatus ? Number(value) : value];
    }),
  );
}
