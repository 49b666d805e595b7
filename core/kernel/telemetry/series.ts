/**
 * Measurements are added up in plain numbers, one object for each combination of label values, and handed to prom-client when somebody reads
 * them, in steps: looking a series up by its labels again for every measurement costs more than answering a request from a cache does, and
 * thousands of tenants make a hundred thousand values.
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
import { Pacer } from '../../base/pace/pacer.js';

export type Labels = Readonly<Record<string, string>>;
/** Replaces label values beyond the limit of a metric. */
export const overflowLabel = '__overflow__';
/** The most combinations of label values of one metric; clients can choose some of the values. */
const maxSeries = 2_000;

/** A value as prom-client gives it. */
type Value = MetricValueWithName<string>;
type Read = Promise<MetricObjectWithValues<Value>>;

interface Shown {
  /** Adds its values, as the metric of this name. */
  show(values: Value[], metric: string): void;
}

/** The series of one metric. Their number is bounded: combinations beyond the bound share one. */
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

  /** The values of all series, made in steps; each is read at one instant. */
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

/** Declaration of a metric for prom-client. */
export interface Description {
  readonly name: string;
  readonly help: string;
  readonly labelNames: string[];
  readonly registers: Registry[];
  /** The way in which measurements of several processes become one. */
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

/** A counter that keeps its own sums. */
export function plainCounter(description: Description): Meter.Counter<Labels> {
  const { name, labelNames } = description;
  const table = new SeriesTable(name, labelNames, (labels) => new Count(name, labels));
  new PlainCounter(description, table);
  if (labelNames.length === 0) table.of({});
  return { add: (value, labels) => table.of(labels).add(value), of: (labels) => table.of(labels) };
}

/** prom-client's registry reads of it the same as the table has. */
class PlainCounter extends Counter {
  readonly #table: SeriesTable<Count>;

  constructor(description: Description, table: SeriesTable<Count>) {
    super(description);
    this.#table = table;
  }

  override async get(): Read {
    return { ...(await super.get()), values: await this.#table.shown() };
  }
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

  /** Until it is set again. Whoever has this series may still do so. */
  hide(): void {
    this.#isHidden = true;
  }

  show(values: Value[]): void {
    if (!this.#isHidden) values.push({ labels: this.labels, value: this.value });
  }
}

/** A gauge that is shown while somebody is there to set it. */
export interface PlainGauge extends Meter.Gauge<Labels> {
  /** Somebody sets it from now on. */
  begin(): void;
  /** Nobody sets it any more: its last values say nothing. */
  end(): void;
}

/** A gauge that keeps its own values. */
export function plainGauge(description: Description): PlainGauge {
  const { name, labelNames } = description;
  const table = new SeriesTable(name, labelNames, (labels) => new Level(name, labels));
  new ShownGauge(description, table);
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

class ShownGauge extends Gauge {
  readonly #table: SeriesTable<Level>;

  constructor(description: Description, table: SeriesTable<Level>) {
    super(description);
    this.#table = table;
  }

  override async get(): Read {
    return { ...(await super.get()), values: await this.#table.shown() };
  }
}

/** One series of a histogram: how many observations were in each bucket, those above the last one left out, and in all. */
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

/** A histogram that keeps its own counts: prom-client's takes observations only one at a time. */
export class PlainHistogram extends Histogram {
  readonly #table: SeriesTable<Observed>;

  /** With a series that is kept elsewhere, that is its only one. */
  constructor(description: Description, buckets: readonly number[], only?: Observed) {
    super({ ...description, buckets: [...buckets] });
    const { name, labelNames } = description;
    this.#table = new SeriesTable(name, labelNames, (labels) => only ?? new Observed(name, labels, buckets));
    if (labelNames.length === 0) this.#table.of({});
  }

  series(labels: Labels): { observe(value: number): void } {
    return this.#table.of(labels);
  }

  override async get(): Read {
    return { ...(await super.get()), values: await this.#table.shown() };
  }
}
