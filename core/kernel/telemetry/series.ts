/**
 * Measurements are added up in plain numbers, with one object for each combination of label values, and passed to prom-client in steps when
 * they are read. Looking up a series by its labels for every measurement costs more than answering a request from a cache, and thousands of
 * tenants produce a hundred thousand values.
 */
import {
  type Aggregator,
  Counter,
  Gauge,
  Histogram,
  type MetricObjectWithValues,
  type MetricValueWithName,
  type Registry,
} from 'prom-client';
import type * as Meter from '../../base/meters.js';
import { Pacer } from '../../base/pace/steps.js';

export type Labels = Readonly<Record<string, string>>;
/** Replaces label values beyond the limit of a metric. */
export const overflowLabel = '__overflow__';
/** Maximum number of series of one metric; clients can choose some label values. */
const maxSeries = 2_000;

/** A value in prom-client's form. */
type Value = MetricValueWithName<string>;
type Read = Promise<MetricObjectWithValues<Value>>;

interface Shown {
  /** Adds its values under this metric name. */
  show(values: Value[], metric: string): void;
}

/** The series of one metric. Their number is bounded: further label combinations share one series. */
class SeriesTable<Series extends Shown> {
  readonly #all = new Map<string, Series>();
  readonly #metric: string;
  readonly #names: readonly string[];
  readonly #make: (labels: Labels) => Series;

  constructor(metric: string, names: readonly string[], make: (labels: Labels) => Series) {
    this.#metric = metric;
    this.#names = names;
    this.#make = make;
  }

  get all(): Iterable<Series> {
    return this.#all.values();
  }

  of(labels: Labels): Series {
    const key = this.#keyOf(labels);
    return this.#all.get(key) ?? this.#add(key, labels);
  }

  remove(labels: Labels): void {
    this.#all.delete(this.#keyOf(labels));
  }

  /** The values of all series, created in steps; each series is read at one instant. */
  async shown(): Promise<Value[]> {
    const pacer = new Pacer();
    const values: Value[] = [];
    for (const series of this.#all.values()) {
      series.show(values, this.#metric);
      const due = pacer.due();
      if (due !== undefined) await due;
    }
    return values;
  }

  #keyOf(labels: Labels): string {
    let key = '';
    for (const name of this.#names) key += `${labels[name] ?? ''}\u0000`;
    for (const name in labels) if (!this.#names.includes(name)) throw this.#undeclared(name);
    return key;
  }

  #undeclared(name: string): TypeError {
    const declared = this.#names.length === 0 ? 'it declares none' : `it declares ${this.#names.join(', ')}`;
    return new TypeError(`the metric ${this.#metric} has no label "${name}": ${declared}`);
  }

  #add(key: string, labels: Labels): Series {
    if (this.#all.size < maxSeries) return this.#keep(key, labels);
    const overflow = Object.fromEntries(this.#names.map((name) => [name, overflowLabel]));
    const shared = this.#keyOf(overflow);
    return this.#all.get(shared) ?? this.#keep(shared, overflow);
  }

  #keep(key: string, labels: Labels): Series {
    const made = this.#make(labels);
    this.#all.set(key, made);
    return made;
  }
}

/** A metric's declaration for prom-client. */
export interface Description {
  readonly name: string;
  readonly help: string;
  readonly labelNames: string[];
  readonly registers: Registry[];
  /** Rule for combining the measurements of several processes. */
  readonly aggregator: Aggregator;
}

/** One series of a counter. */
class Count implements Shown {
  value = 0;

  constructor(
    readonly name: string,
    readonly labels: Labels,
  ) {}

  add(value: number): void {
    if (!(value >= 0 && value < Infinity)) throw new TypeError(`${this.name} cannot grow by ${value}`);
    this.value += value;
  }

  show(values: Value[]): void {
    values.push({ labels: this.labels, value: this.value });
  }
}

/** A counter with its own sums. */
export function plainCounter(description: Description): Meter.Counter<Labels> {
  const { name, labelNames } = description;
  const table = new SeriesTable(name, labelNames, (labels) => new Count(name, labels));
  readFrom(new Counter(description), table);
  if (labelNames.length === 0) table.of({});
  return { add: (value, labels) => table.of(labels).add(value), of: (labels) => table.of(labels) };
}

/** Lets prom-client's registry read the values of a metric from its table. */
function readFrom(metric: { get(): Read }, table: SeriesTable<Shown>): void {
  const described = metric.get.bind(metric);
  metric.get = async () => ({ ...(await described()), values: await table.shown() });
}

/** One series of a gauge. */
class Level implements Shown {
  value = 0;
  #isHidden = false;

  constructor(
    readonly name: string,
    readonly labels: Labels,
  ) {}

  set(value: number): void {
    if (!Number.isFinite(value)) throw new TypeError(`${this.name} cannot be ${value}`);
    this.value = value;
    this.#isHidden = false;
  }

  /** Hides the series until it is set again, which holders of this series may still do. */
  hide(): void {
    this.#isHidden = true;
  }

  show(values: Value[]): void {
    if (!this.#isHidden) values.push({ labels: this.labels, value: this.value });
  }
}

/** A gauge that is shown while it has owners. */
export interface PlainGauge extends Meter.Gauge<Labels> {
  /** Adds an owner. */
  begin(): void;
  /** Removes an owner. Without owners the last values are meaningless. */
  end(): void;
}

/** A gauge with its own values. */
export function plainGauge(description: Description): PlainGauge {
  const { name, labelNames } = description;
  const table = new SeriesTable(name, labelNames, (labels) => new Level(name, labels));
  readFrom(new Gauge(description), table);
  return {
    begin: () => {
      if (labelNames.length === 0) table.of({}).set(0);
    },
    end: () => {
      for (const level of table.all) level.hide();
    },
    set: (value, labels) => table.of(labels).set(value),
    of: (labels) => table.of(labels),
    remove: (labels) => table.remove(labels),
  };
}

/** One series of a histogram: the number of observations in each bucket, without those above the last one, and in total. */
export class Observed implements Shown {
  readonly inBuckets: Float64Array;
  count = 0;
  sum = 0;

  constructor(
    readonly name: string,
    readonly labels: Labels,
    readonly buckets: readonly number[],
  ) {
    this.inBuckets = new Float64Array(buckets.length);
  }

  observe(value: number): void {
    if (!Number.isFinite(value)) throw new TypeError(`${this.name} cannot observe ${value}`);
    const { buckets, inBuckets } = this;
    let at = 0;
    while (at < buckets.length && value > (buckets[at] ?? Infinity)) at += 1;
    if (at < buckets.length) inBuckets[at] = (inBuckets[at] ?? 0) + 1;
    this.count += 1;
    this.sum += value;
  }

  show(values: Value[], metric: string): void {
    const { labels, buckets, inBuckets, count, sum } = this;
    const bucket = `${metric}_bucket`;
    let below = 0;
    for (const [at, le] of buckets.entries()) {
      below += inBuckets[at] ?? 0;
      values.push({ labels: { le, ...labels }, value: below, metricName: bucket });
    }
    values.push(
      { labels: { le: '+Inf', ...labels }, value: count, metricName: bucket },
      { labels, value: sum, metricName: `${metric}_sum` },
      { labels, value: count, metricName: `${metric}_count` },
    );
  }
}

/**
 * A histogram with its own counts, because prom-client's takes observations only one at a time.
 * @param only the only series, if it is kept elsewhere
 */
export function plainHistogram(
  description: Description,
  buckets: readonly number[],
  only?: Observed,
): Meter.Histogram<Labels> {
  const { name, labelNames } = description;
  const table = new SeriesTable(name, labelNames, (labels) => only ?? new Observed(name, labels, buckets));
  readFrom(new Histogram({ ...description, buckets: [...buckets] }), table);
  if (labelNames.length === 0) table.of({});
  return { observe: (value, labels) => table.of(labels).observe(value), of: (labels) => table.of(labels) };
}
