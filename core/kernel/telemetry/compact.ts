/**
 * Measurements in the form that workers send to the first process: each series of a histogram once, with its numbers in an array, instead
 * of one labelled value per bucket. For ten thousand tenants these are eight thousand series instead of a hundred thousand values. Reading,
 * writing and adding them up is done in steps, so that requests are answered in the meantime.
 */
import { ofKey } from '../../base/memory/byte-lru.js';
import type { Aggregator, MetricValueWithName } from 'prom-client';
import { eachAtPace, Pacer } from '../../base/pace/steps.js';
import { type Measurements, expose, type Exposition } from './exposition.js';

type Labels = Readonly<Partial<Record<string, string | number>>>;
type Value = MetricValueWithName<string>;
type Shown = Pick<Value, 'labels' | 'value'> & { readonly metricName?: string };

/** A metric as plain data. */
export interface CompactMetric {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly aggregator: Aggregator;
  /** The bounds of a histogram; the last one is `+Inf`. */
  readonly bounds: readonly (string | number)[];
  readonly series: readonly CompactSeries[];
}

/** The value, or for a histogram: the cumulative count for each bound, the sum, and the total count. */
export type CompactSeries = readonly [labels: Labels, numbers: readonly number[]];

export async function compact(measurements: Measurements): Promise<readonly CompactMetric[]> {
  const pacer = new Pacer();
  const all: CompactMetric[] = [];
  for (const { name, help, type, aggregator, values } of measurements) {
    const bounds: (string | number)[] = [];
    const series: CompactSeries[] = [];
    let numbers: number[] = [];
    await eachAtPace(values, pacer, (value) => {
      const { labels, metricName = name } = value as Value;
      numbers.push(value.value);
      // The values of a series are adjacent: its buckets in order, then its sum and its count (`Observed` in series.ts).
      if (metricName === `${name}_bucket`) {
        if (series.length === 0) bounds.push(labels['le'] ?? '');
      } else if (metricName !== `${name}_sum`) {
        series.push([labels, numbers]);
        numbers = [];
      }
    });
    // prom-client's types number the kinds of metrics, while its data names them.
    all.push({ name, help, type: String(type), aggregator, bounds, series });
  }
  return all;
}

/** The inverse of `compact`. */
export async function expanded(all: readonly CompactMetric[]): Promise<Measurements> {
  const pacer = new Pacer();
  const measurements: unknown[] = [];
  for (const { name, bounds, series, ...described } of all) {
    const values: Shown[] = [];
    await eachAtPace(series, pacer, ([labels, numbers]) => {
      if (bounds.length === 0) values.push({ labels, value: numbers[0] ?? 0 });
      else {
        for (const [at, le] of bounds.entries())
          values.push({ labels: { le, ...labels }, value: numbers[at] ?? 0, metricName: `${name}_bucket` });
        values.push(
          { labels, value: numbers[bounds.length] ?? 0, metricName: `${name}_sum` },
          { labels, value: numbers[bounds.length + 1] ?? 0, metricName: `${name}_count` },
        );
      }
    });
    measurements.push({ name, ...described, values });
  }
  // The type numbers the kinds of metrics, which the data never does.
  return measurements as Measurements;
}

const together: Readonly<Record<string, (a: number, b: number) => number>> = {
  sum: (a, b) => a + b,
  average: (a, b) => a + b,
  min: Math.min,
  max: Math.max,
};

/** Merges the metrics of several processes, each according to its declaration (`ofWorkers`). */
export async function merged(
  lists: readonly (readonly CompactMetric[])[],
): Promise<readonly CompactMetric[]> {
  const pacer = new Pacer();
  const all = new Map<string, { readonly metric: CompactMetric; readonly series: Map<string, Sum> }>();
  for (const list of lists)
    for (const metric of list) {
      const known = ofKey(all, metric.name, () => ({ metric, series: new Map<string, Sum>() }));
      const combine = together[metric.aggregator] ?? Math.max;
      await eachAtPace(metric.series, pacer, ([labels, numbers]) => {
        const key = keyOf(labels);
        const sum = known.series.get(key);
        if (sum === undefined) known.series.set(key, { labels, numbers: [...numbers], of: 1 });
        else {
          sum.of += 1;
          for (const [at, number] of numbers.entries())
            sum.numbers[at] = combine(sum.numbers[at] ?? 0, number);
        }
      });
    }
  const metrics: CompactMetric[] = [];
  for (const { metric, series } of all.values()) {
    const isAverage = metric.aggregator === 'average';
    const own: CompactSeries[] = [];
    await eachAtPace(series.values(), pacer, ({ labels, numbers, of }) => {
      own.push([labels, isAverage ? numbers.map((number) => number / of) : numbers]);
    });
    metrics.push({ ...metric, series: own });
  }
  return metrics;
}

interface Sum {
  readonly labels: Labels;
  readonly numbers: number[];
  of: number;
}

/** A key that is equal for equal labels in any order. */
function keyOf(labels: Labels): string {
  let key = '';
  for (const name of Object.keys(labels).sort()) key += `${name}\u0000${labels[name] ?? ''}\u0001`;
  return key;
}

type All = readonly CompactMetric[];

/**
 * The merged measurements of several processes. Each metric is summed, or merged according to its declaration (`ofWorkers`). The last known
 * counts of a process that has ended stay in the sums, because a falling counter would look like a restart of the whole.
 */
export class AddedUp {
  readonly #latest = new Map<number, All>();
  #ended: Promise<All> = Promise.resolve([]);

  /** Stores the current measurements of a worker. */
  update(worker: number, measurements: All): void {
    this.#latest.set(worker, measurements);
  }

  /** Keeps the counts of a worker that has ended: its successor with the same number counts from zero. */
  ended(worker: number): void {
    const counted = this.#latest.get(worker)?.filter(({ type }) => type !== 'gauge') ?? [];
    this.#latest.delete(worker);
    this.#ended = this.#ended.then((before) => merged([before, counted]));
  }

  /** All metrics in the text exposition format, together with measurements made outside the workers. */
  async expose(beside: Measurements): Promise<Exposition> {
    return expose(await this.measurements(beside));
  }

  /** As `expose`, as data. */
  async measurements(beside: Measurements): Promise<Measurements> {
    const own = await compact(beside);
    const ended = await this.#ended;
    return expanded(await merged([...this.#latest.values(), ended, own]));
  }
}
