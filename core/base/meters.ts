/** A metric a plugin declares. Names get the prefix `ref_proxy_`. */
export interface MetricSpec {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels?: readonly string[];
  /** Histograms only; default buckets suit seconds. */
  readonly buckets?: readonly number[];
  /** Aggregation of a metric's values over workers; the sum unless given. A counter may have `max` if all workers count the same events. */
  readonly ofWorkers?: 'min' | 'max' | 'average';
}
export type MetricSpecs = Readonly<Record<string, MetricSpec>>;

type LabelValues<Spec extends MetricSpec> = Spec['labels'] extends readonly (infer Label extends string)[]
  ? Readonly<Record<Label, string>>
  : Readonly<Record<never, string>>;

export interface Counter<Labels> {
  add(value: number, labels: Labels): void;
  /** The series of these labels, for callers that count often: saves the lookup each time. */
  of(labels: Labels): { add(value: number): void };
}
export interface Gauge<Labels> {
  set(value: number, labels: Labels): void;
  /** As for a counter. */
  of(labels: Labels): { set(value: number): void };
  /** Removes the series, until it is set again. */
  remove(labels: Labels): void;
}
export interface Histogram<Labels> {
  observe(value: number, labels: Labels): void;
  /** As for a counter. */
  of(labels: Labels): { observe(value: number): void };
}

/** The declared metrics by name, each with its type; using an undeclared one is a type error. */
export type Meters<Metrics extends MetricSpecs> = {
  readonly [Name in keyof Metrics]: Metrics[Name]['type'] extends 'counter'
    ? Counter<LabelValues<Metrics[Name]>>
    : Metrics[Name]['type'] extends 'gauge'
      ? Gauge<LabelValues<Metrics[Name]>>
      : Histogram<LabelValues<Metrics[Name]>>;
};
