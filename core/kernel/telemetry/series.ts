/**
 * Measurements are added up in plain numbers, with one object for each combination of label values, and passed to prom-client in steps when
 * they are read. Looking up a series by its labels for every measurement costs more than answering a request from a cache, and thousands of
 * tenants produce a hundred thousand values.
 */
import { type Aggregator, Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type * as Meter from '../../base/meters.js';
import { eachAtPace, Pacer } from '../../base/pace/steps.js';

export type Labels = Readonly<Record<string, string>>;
/** Replaces label values beyond the limit of a metric. */
export const overflowLabel = '__overflow__';
/** Maximum number of series of one metric; clients can choose some label values. */
const maxSeries = 2_000;

/** The value, or for a histogram: the cumulative count for each bound, the sum, and the total count. */
export type MeasuredSeries = readonly [labels: Labels, numbers: readonly number[]];

/** A metric as plain data: each series of a histogram once, instead of one labelled value per bucket. */
export interface Measured {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  /** Rule for combining the measurements of several processes. */
  readonly aggregator: Aggregator;
  /** The bounds of a histogram; the last one is `+Inf`. Empty for other types. */
  readonly bounds: readonly (number | string)[];
  readonly series: readonly MeasuredSeries[];
}

/** The measurements of one process, or of several together. */
export type Measurements = readonly Measured[];

interface Shown {
  readonly labels: Labels;
  /** Undefined while the series is hidden. */
  numbers(): readonly number[] | undefined;
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

  /** All series, read in steps; each one at one instant. */
  async shown(): Promise<readonly MeasuredSeries[]> {
    const shown: MeasuredSeries[] = [];
    await eachAtPace(this.#all.values(), new Pacer(), (series) => {
      const numbers = series.numbers();
      if (numbers !== undefined) shown.push([series.labels, numbers]);
    });
    return shown;
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

  numbers(): readonly number[] {
    return [this.value];
  }
}

/** A counter with its own sums. */
export function plainCounter(description: Description): Meter.Counter<Labels> {
  const { name, labelNames } = description;
  const table = new SeriesTable(name, labelNames, (labels) => new Count(name, labels));
  readFrom(new Counter(description), () => table.shown());
  if (labelNames.length === 0) table.of({});
  return { add: (value, labels) => table.of(labels).add(value), of: (labels) => table.of(labels) };
}

/** Lets prom-client's registry read a metric from elsewhere: in its own form, the registry would have a value for each bucket. */
export function readFrom(
  metric: { get(): Promise<unknown> },
  read: () => Measured['series'] | Promise<Measured['series']>,
  bounds: Measured['bounds'] = [],
): void {
  const described = metric.get.bind(metric);
  metric.get = async (): Promise<Measured> => {
    // prom-client's types number the kinds of metrics, while its data names them.
    const { name, help, type, aggregator } = (await described()) as Measured;
    return { name, help, type, aggregator, bounds, series: await read() };
  };
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

  numbers(): readonly number[] | undefined {
    return this.#isHidden ? undefined : [this.value];
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
  readFrom(new Gauge(description), () => table.shown());
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

  numbers(): readonly number[] {
    let below = 0;
    const upTo = Array.from(this.inBuckets, (count) => (below += count));
    return [...upTo, this.count, this.sum, this.count];
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
  readFrom(new Histogram({ ...description, buckets: [...buckets] }), () => table.shown(), [
    ...buckets,
    '+Inf',
  ]);
  if (labelNames.length === 0) table.of({});
  return { observe: (value, labels) => table.of(labels).observe(value), of: (labels) => table.of(labels) };
}
