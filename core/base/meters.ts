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

type Helps = Readonly<Record<string, string>>;
type Plain<Type extends MetricSpec['type'], Names extends Helps> = {
  readonly [Name in keyof Names]: Omit<MetricSpec, 'type' | 'labels'> & { readonly type: Type };
};

/** Declares counters without labels by their help texts. */
export function counters<Names extends Helps>(helps: Names): Plain<'counter', Names> {
  return plain({ type: 'counter' }, helps);
}

/** Declares gauges without labels by their help texts. */
export function gauges<Names extends Helps>(
  helps: Names,
  ofWorkers?: MetricSpec['ofWorkers'],
): Plain<'gauge', Names> {
  return plain({ type: 'gauge', ...(ofWorkers && { ofWorkers }) }, helps);
}

function plain<Type extends MetricSpec['type'], Names extends Helps>(
  spec: Omit<MetricSpec, 'type' | 'help'> & { readonly type: Type },
  helps: Names,
): Plain<Type, Names> {
  const specs = Object.entries(helps).map(([name, help]) => [name, { ...spec, help }]);
  // The names are those of the texts.
  return Object.fromEntries(specs) as Plain<Type, Names>;
}

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
