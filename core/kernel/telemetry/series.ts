/**
 * Measurements are added up in plain numbers, one object for each combination of label values, and handed to prom-client when somebody reads
 * them: looking a series up by its labels again for every measurement costs more than answering a request from a cache does.
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

export type Labels = Readonly<Record<string, string>>;
/** Replaces label values beyond the limit of a metric. */
export const overflowLabel = '__overflow__';
/** The most combinations of label values of one metric; clients can choose some of the values. */
const maxSeries = 2_000;

/** The series of one metric. Their number is bounded: combinations beyond the bound share one. */
class SeriesTable<Series> {
  readonly #all = new Map<string, Series>();
  readonly #metric: string;
  readonly #names: readonly string[];
  readonly #make: (labels: Labels) => Series;

  constructor(metric: string, names: readonly string[], make: (labels: Labels) => Series) {
    this.#metric = metric;
    this.#names = names;
    this.#make = make;
  }

  of(labels: Labels): Series {
    const key = this.#keyOf(labels);
    return this.#all.get(key) ?? this.#add(key, labels);
  }

  remove(labels: Labels): void {
    this.#all.delete(this.#keyOf(labels));
  }

  values(): IterableIterator<Series> {
    return this.#all.values();
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

/** What prom-client is told of a metric. */
export interface Description {
  readonly name: string;
  readonly help: string;
  readonly labelNames: string[];
  readonly registers: Registry[];
  /** How the measurements of several processes become one. */
  readonly aggregator: Aggregator;
}

/** One series of a counter. */
class Count {
  /** What prom-client has not been told. */
  pending = 0;

  constructor(
    readonly name: string,
    readonly labels: Labels,
  ) {}

  add(value: number): void {
    if (!(value >= 0 && value < Infinity)) throw new TypeError(`${this.name} cannot grow by ${value}`);
    this.pending += value;
  }
}

/** A counter whose increments reach prom-client when it is read. */
export function plainCounter(description: Description): Meter.Counter<Labels> {
  const { name, labelNames } = description;
  const table = new SeriesTable(name, labelNames, (labels) => {
    counter.labels(labels);
    return new Count(name, labels);
  });
  const counter = new Counter({
    ...description,
    collect() {
      for (const series of table.values()) {
        this.inc(series.labels, series.pending);
        series.pending = 0;
      }
    },
  });
  if (labelNames.length === 0) table.of({});
  return { add: (value, labels) => table.of(labels).add(value), of: (labels) => table.of(labels) };
}

/** One series of a gauge. */
class Level {
  value = 0;

  constructor(
    readonly name: string,
    readonly labels: Labels,
  ) {}

  set(value: number): void {
    if (!Number.isFinite(value)) throw new TypeError(`${this.name} cannot be ${value}`);
    this.value = value;
  }
}

/** A gauge whose value reaches prom-client when it is read. */
export function plainGauge(description: Description): Meter.Gauge<Labels> {
  const { name, labelNames } = description;
  const table = new SeriesTable(name, labelNames, (labels) => {
    gauge.labels(labels);
    return new Level(name, labels);
  });
  const gauge = new Gauge({
    ...description,
    collect() {
      for (const { labels, value } of table.values()) this.set(labels, value);
    },
  });
  return {
    set: (value, labels) => table.of(labels).set(value),
    of: (labels) => table.of(labels),
    remove: (labels) => {
      table.remove(labels);
      gauge.remove(labels);
    },
  };
}

/** One series of a histogram: how many observations were in each bucket, those above the last one left out, and in all. */
export class Observed {
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

  /** As the metric of this name. */
  shown(name: string): MetricValueWithName<string>[] {
    const { labels, buckets, inBuckets, count, sum } = this;
    let below = 0;
    const cumulative = buckets.map((le, at) => {
      below += inBuckets[at] ?? 0;
      return { labels: { le, ...labels }, value: below, metricName: `${name}_bucket` };
    });
    return [
      ...cumulative,
      { labels: { le: '+Inf', ...labels }, value: count, metricName: `${name}_bucket` },
      { labels, value: sum, metricName: `${name}_sum` },
      { labels, value: count, metricName: `${name}_count` },
    ];
  }
}

/** A histogram that keeps its own counts: prom-client's takes observations only one at a time. */
export class PlainHistogram extends Histogram {
  readonly #table: SeriesTable<Observed>;
  /** Its like without a series, for what prom-client shows beside the values. */
  readonly #frame: Histogram;
  readonly #name: string;

  /** With a series that is kept elsewhere, that is its only one. */
  constructor(description: Description, buckets: readonly number[], only?: Observed) {
    super({ ...description, buckets: [...buckets] });
    this.#frame = new Histogram({ ...description, buckets: [...buckets], registers: [] });
    const { name, labelNames } = description;
    this.#name = name;
    this.#table = new SeriesTable(name, labelNames, (labels) => {
      super.labels(labels);
      return only ?? new Observed(name, labels, buckets);
    });
    if (labelNames.length === 0) this.#table.of({});
  }

  series(labels: Labels): { observe(value: number): void } {
    return this.#table.of(labels);
  }

  override async get(): Promise<MetricObjectWithValues<MetricValueWithName<string>>> {
    const values = [...this.#table.values()].flatMap((series) => series.shown(this.#name));
    return { ...(await this.#frame.get()), values };
  }

  /** What prom-client's text form reads in place of `get` where it is there. */
  getForPromString(): Promise<MetricObjectWithValues<MetricValueWithName<string>>> {
    return this.get();
  }
}
