import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { MetricSpec, MetricSpecs, Meters } from '../../base/meters.js';

/** Prefix of every metric of this program. */
export const metricPrefix = 'ref_proxy_';
/** Replaces label values beyond the limit of a metric. */
export const overflowLabel = '__overflow__';
/** The most combinations of label values of one metric; clients can choose some of the values. */
const maxSeries = 2_000;

/** Seconds from half a millisecond to two minutes. */
export const defaultBuckets = [
  0.0005, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120,
] as const;

/** The metrics of one process, made from their declarations and shared where two plugins declare the same. */
export class MeterRegistry {
  readonly registry = new Registry();
  readonly #made = new Map<string, { readonly spec: MetricSpec; readonly meter: Meter }>();

  /** The meters of some declarations; declaring a metric twice in different ways is an Error. */
  create<const Metrics extends MetricSpecs>(specs: Metrics): Meters<Metrics> {
    const meters: Record<string, Meter> = {};
    for (const [name, spec] of Object.entries(specs)) meters[name] = this.#meter(name, spec);
    // Built entry by entry from the declarations, as the mapped type describes.
    return meters as unknown as Meters<Metrics>;
  }

  /** All measurements so far in the text exposition format. */
  async expose(): Promise<{ readonly contentType: string; readonly text: string }> {
    return { contentType: this.registry.contentType, text: await this.registry.metrics() };
  }

  /** The current value of a counter or gauge, or the count of a histogram; undefined without measurements. */
  async read(name: string, labels: Readonly<Record<string, string>>): Promise<number | undefined> {
    const metric = await this.registry.getSingleMetric(metricPrefix + name)?.get();
    const isWanted = (value: {
      readonly labels: Readonly<Partial<Record<string, string | number>>>;
    }): boolean => Object.entries(labels).every(([label, wanted]) => String(value.labels[label]) === wanted);
    return metric?.values.filter(isTotal).find(isWanted)?.value;
  }

  /** The sum of a counter or gauge over its labels, or the number of observations of a histogram; 0 without measurements. */
  async total(name: string): Promise<number> {
    const metric = await this.registry.getSingleMetric(metricPrefix + name)?.get();
    const counted = metric?.values.filter(isTotal) ?? [];
    return counted.reduce((sum, { value }) => sum + value, 0);
  }

  #meter(name: string, spec: MetricSpec): Meter {
    const known = this.#made.get(name);
    if (known !== undefined) {
      if (shapeOf(known.spec) !== shapeOf(spec))
        throw new Error(`metric ${name} is declared twice in different ways`);
      return known.meter;
    }
    const meter = makeMeter(this.registry, name, spec);
    this.#made.set(name, { spec, meter });
    return meter;
  }
}

/** A histogram contributes only its count, other metrics every value. */
function isTotal(value: object): boolean {
  return !('metricName' in value) || String(value.metricName).endsWith('_count');
}

type Labels = Readonly<Record<string, string>>;
interface Meter {
  add?(value: number, labels: Labels): void;
  set?(value: number, labels: Labels): void;
  observe?(value: number, labels: Labels): void;
}

function shapeOf(spec: MetricSpec): string {
  return JSON.stringify([spec.type, spec.labels ?? [], spec.buckets ?? []]);
}

function makeMeter(registry: Registry, name: string, spec: MetricSpec): Meter {
  const labelNames = [...(spec.labels ?? [])];
  const base = { name: metricPrefix + name, help: spec.help, labelNames, registers: [registry] };
  const bounded = boundLabels(labelNames);
  switch (spec.type) {
    case 'counter': {
      const counter = new Counter(base);
      if (labelNames.length === 0) counter.inc(0);
      return { add: (value, labels) => counter.inc(bounded(labels), value) };
    }
    case 'gauge': {
      const gauge = new Gauge(base);
      return { set: (value, labels) => gauge.set(bounded(labels), value) };
    }
    case 'histogram': {
      const histogram = new Histogram({ ...base, buckets: [...(spec.buckets ?? defaultBuckets)] });
      return { observe: (value, labels) => histogram.observe(bounded(labels), value) };
    }
  }
}

/** Bounds the label combinations of one metric: those beyond the bound share one. */
function boundLabels(names: readonly string[]): (labels: Labels) => Labels {
  if (names.length === 0) return () => ({});
  const seen = new Set<string>();
  const overflow = Object.fromEntries(names.map((name) => [name, overflowLabel]));
  return (labels) => {
    const key = names.map((name) => labels[name] ?? '').join('\u0000');
    if (seen.has(key)) return labels;
    if (seen.size >= maxSeries) return overflow;
    seen.add(key);
    return labels;
  };
}
