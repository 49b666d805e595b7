/**
 * Measurements as workers tell them to the first process: a series of a histogram once, with its numbers in a row, in the place of a value
 * with its labels for each bucket. Of ten thousand tenants these are eight thousand series in the place of a hundred thousand values, and
 * whatever reads, writes or adds them up takes steps, so that requests are answered meanwhile.
 */
import type { Aggregator, MetricValueWithName } from 'prom-client';
import { Pacer } from '../../base/pace/pacer.js';
import { eachAtPace } from '../../base/pace/steps.js';
import { type Measurements, expose, type Exposition } from './exposition.js';

type Labels = Readonly<Partial<Record<string, string | number>>>;
type Value = MetricValueWithName<string>;
type Shown = Pick<Value, 'labels' | 'value'> & { readonly metricName?: string };

/** Plain data. */
export interface CompactMetric {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly aggregator: Aggregator;
  /** Of a histogram: its bounds, the last one `+Inf`. */
  readonly bounds: readonly (string | number)[];
  readonly series: readonly CompactSeries[];
}

/** The value; of a histogram how many are up to each bound, their sum, and how many there are. */
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
      // The values of a series stand together, its buckets in order before its sum and its count (`Observed` in series.ts).
      if (metricName === `${name}_bucket`) {
        if (series.length === 0) bounds.push(labels['le'] ?? '');
      } else if (metricName !== `${name}_sum`) {
        series.push([labels, numbers]);
        numbers = [];
      }
    });
    // prom-client's types know the kinds of metrics by numbers, its data by names.
    all.push({ name, help, type: String(type), aggregator, bounds, series });
  }
  return all;
}

/** The opposite of `compact`. */
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
  // Its type names a kind by a number, which no data has.
  return measurements as Measurements;
}

const together: Readonly<Record<string, (a: number, b: number) => number>> = {
  sum: (a, b) => a + b,
  average: (a, b) => a + b,
  min: Math.min,
  max: Math.max,
};

/** Of several processes one, each metric as its declaration says (`ofWorkers`). */
export async function merged(
  lists: readonly (readonly CompactMetric[])[],
): Promise<readonly CompactMetric[]> {
  const pacer = new Pacer();
  const all = new Map<string, { readonly metric: CompactMetric; readonly series: Map<string, Sum> }>();
  for (const list of lists)
    for (const metric of list) {
      const known = all.get(metric.name) ?? { metric, series: new Map<string, Sum>() };
      all.set(metric.name, known);
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

/** The same for the same labels in whatever order. */
function keyOf(labels: Labels): string {
  let key = '';
  for (const name of Object.keys(labels).sort()) key += `${name}\u0000${labels[name] ?? ''}\u0001`;
  return key;
}

type All = readonly CompactMetric[];

/**
 * The measurements of several processes as one. Each is added up, or merged as its declaration says (`ofWorkers`). What one had counted
 * when it was last heard of stays in the sums when it ends: a counter that falls looks like a restart of the whole.
 */
export class AddedUp {
  readonly #latest = new Map<number, All>();
  #ended: Promise<All> = Promise.resolve([]);

  /** Takes the measurements of a worker so far. */
  update(worker: number, measurements: All): void {
    this.#latest.set(worker, measurements);
  }

  /** A worker has ended: the next one with its number counts from zero. */
  ended(worker: number): void {
    const counted = this.#latest.get(worker)?.filter(({ type }) => type !== 'gauge') ?? [];
    this.#latest.delete(worker);
    this.#ended = this.#ended.then((before) => merged([before, counted]));
  }

  /** Everything in the text exposition format, with what is measured beside the workers. */
  async expose(beside: Measurements): Promise<Exposition> {
    return expose(await this.measurements(beside));
  }

  /** The same as data. */
  async measurements(beside: Measurements): Promise<Measurements> {
    const own = await compact(beside);
    const ended = await this.#ended;
    return expanded(await merged([...this.#latest.values(), ended, own]));
  }
}
