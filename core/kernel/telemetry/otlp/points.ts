/**
 * Measurements as the messages of OTLP, with its numbers of fields:
 * https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/metrics/v1/metrics.proto
 */
import { Pacer } from '../../../base/pace/pacer.js';
import { eachAtPace } from '../../../base/pace/steps.js';
import type { Measurements } from '../exposition.js';
import { Message } from './protobuf.js';

/** Nanoseconds since the epoch. */
export interface Times {
  /** Since when counters have counted. */
  readonly startNs: bigint;
  readonly nowNs: bigint;
}

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

/** A `KeyValue`. */
function attributeOf(key: string, value: string | number): Buffer {
  const written = new Message();
  if (typeof value === 'number') written.whole(3, value);
  else written.text(1, value);
  return new Message().text(1, key).bytes(2, written.done()).done();
}

/** An `ExportMetricsServiceRequest` of metrics, each a `Metric`. */
export function requestOf(
  resource: readonly (readonly [key: string, value: string])[],
  metrics: readonly Buffer[],
): Buffer {
  const described = new Message();
  for (const [key, value] of resource) described.bytes(1, attributeOf(key, value));
  const scope = new Message().bytes(1, new Message().text(1, 'ref-proxy').done());
  for (const metric of metrics) scope.bytes(2, metric);
  const all = new Message().bytes(1, described.done()).bytes(2, scope.done());
  return new Message().bytes(1, all.done()).done();
}

/** Metrics in batches of at most so many points, one batch made for each pull, in steps. */
export async function* batches(
  measurements: Measurements,
  times: Times,
  mostPoints: number,
): AsyncGenerator<readonly Buffer[]> {
  let batch: Buffer[] = [];
  let room = mostPoints;
  for (const measured of measurements) {
    const { points, kind, wrap } = await shapeOf(measured, times);
    for (let from = 0; from < points.length;) {
      const some = points.slice(from, from + room);
      const data = wrap();
      for (const point of some) data.bytes(1, point);
      batch.push(new Message().text(1, measured.name).text(2, measured.help).bytes(kind, data.done()).done());
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
  readonly points: readonly Buffer[];
  /** The field of a `Metric` that has them. */
  readonly kind: number;
  /** What stands there beside them. */
  readonly wrap: () => Message;
}

async function shapeOf(measured: Measured, times: Times): Promise<Shape> {
  const values: readonly Value[] = measured.values;
  // prom-client's types know the kinds of metrics by numbers, its data by names.
  switch (String(measured.type)) {
    case 'histogram':
      return {
        kind: 9,
        points: await histogramPoints(measured.name, values, times),
        wrap: () => new Message().whole(2, cumulative),
      };
    case 'counter':
      return {
        kind: 7,
        points: await inSteps(values, (value) =>
          numberPoint(value, new Message().fixed(2, times.startNs), times),
        ),
        // It only grows.
        wrap: () => new Message().whole(2, cumulative).whole(3, 1),
      };
    default:
      return {
        kind: 5,
        points: await inSteps(values, (value) => numberPoint(value, new Message(), times)),
        wrap: () => new Message(),
      };
  }
}

/** The results of a work for each, with pauses in which others run. */
async function inSteps<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Result,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  await eachAtPace(items, new Pacer(), (item) => results.push(work(item)));
  return results;
}

function numberPoint({ value, labels }: Value, point: Message, { nowNs }: Times): Buffer {
  point.fixed(3, nowNs).double(4, value);
  for (const attribute of attributesOf(Object.entries(labels))) point.bytes(7, attribute);
  return point.done();
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
): Promise<readonly Buffer[]> {
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
  return inSteps([...all.values()], ({ labels, upTo, sum, count }) => {
    upTo.sort(([a], [b]) => a - b);
    // Here each bucket counts what is below it too, there only its own.
    const counts = [...upTo.map(([, below]) => below), count];
    const point = new Message()
      .fixed(2, times.startNs)
      .fixed(3, times.nowNs)
      .fixed(4, BigInt(count))
      .double(5, sum)
      .fixedList(
        6,
        counts.map((below, at) => below - (counts[at - 1] ?? 0)),
      )
      .doubleList(
        7,
        upTo.map(([bound]) => bound),
      );
    for (const attribute of attributesOf(labels)) point.bytes(9, attribute);
    return point.done();
  });
}

function attributesOf(
  labels: readonly (readonly [string, string | number | undefined])[],
): readonly Buffer[] {
  return labels.map(([label, value]) => {
    const [key, text] = [attributeNames.get(label) ?? label, String(value ?? '')];
    return attributeOf(key, label === 'status' && /^\d{1,9}$/.test(text) ? Number(text) : text);
  });
}
