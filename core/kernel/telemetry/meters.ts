import { Registry } from 'prom-client';
import type { Counter, Histogram, MetricSpec, MetricSpecs, Meters } from '../../base/meters.js';
import type { Measurements } from './exposition.js';
import { expose, type Exposition } from './exposition.js';
import { metricPrefix } from './names.js';
import {
  plainCounter,
  plainGauge,
  PlainHistogram,
  type Description,
  type Labels,
  type PlainGauge,
} from './series.js';

/** Buckets in seconds, from half a millisecond to two minutes. */
export const defaultBuckets = [
  0.0005, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120,
] as const;

/** The metrics of one process, created from their declarations, and shared if two plugins declare the same one. */
export class MeterRegistry {
  readonly registry = new Registry();
  readonly #made = new Map<string, Made>();

  /**
   * Creates the meters of some declarations; throws if a metric was declared differently before. They are held by the caller for good, or
   * until `onStop` runs its cleanup. A gauge that is no longer held is not shown, since its last value is meaningless.
   */
  create<const Metrics extends MetricSpecs>(
    specs: Metrics,
    onStop: (work: () => void) => void = () => undefined,
  ): Meters<Metrics> {
    const meters: Record<string, Meter> = {};
    for (const [name, spec] of Object.entries(specs)) {
      const made = this.#meter(name, spec);
      meters[name] = made.meter;
      hold(made);
      onStop(() => release(made));
    }
    // Built entry by entry from the declarations, as described by the mapped type.
    return meters as unknown as Meters<Metrics>;
  }

  /** All measurements so far in the text exposition format. */
  async expose(): Promise<Exposition> {
    return expose(await this.measurements());
  }

  /** All measurements so far as data. */
  measurements(): Promise<Measurements> {
    return this.registry.getMetricsAsJSON();
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

  #meter(name: string, spec: MetricSpec): Made {
    const known = this.#made.get(name);
    if (known !== undefined) {
      if (shapeOfMetric(known.spec) !== shapeOfMetric(spec))
        throw new Error(`metric ${name} is declared twice with different definitions`);
      return known;
    }
    const made = { spec, meter: makeMeter(this.registry, name, spec), holders: 0 };
    this.#made.set(name, made);
    return made;
  }
}

/** A histogram contributes only its count, other metrics every value. */
function isTotal(value: object): boolean {
  return !('metricName' in value) || String(value.metricName).endsWith('_count');
}

type Meter = Counter<Labels> | PlainGauge | Histogram<Labels>;

interface Made {
  readonly spec: MetricSpec;
  readonly meter: Meter;
  holders: number;
}

function hold(made: Made): void {
  made.holders += 1;
  if (made.holders === 1 && 'begin' in made.meter) made.meter.begin();
}

function release(made: Made): void {
  made.holders -= 1;
  if (made.holders === 0 && 'end' in made.meter) made.meter.end();
}

/** A text that is equal for compatible declarations of a metric, which are treated as one. */
export function shapeOfMetric(spec: MetricSpec): string {
  return JSON.stringify([spec.type, spec.labels ?? [], spec.buckets ?? []]);
}

function makeMeter(registry: Registry, name: string, spec: MetricSpec): Meter {
  const { help, labels = [], buckets = defaultBuckets, ofWorkers: aggregator = 'sum' } = spec;
  const description: Description = {
    name: metricPrefix + name,
    help,
    labelNames: [...labels],
    registers: [registry],
    aggregator,
  };
  switch (spec.type) {
    case 'counter':
      return plainCounter(description);
    case 'gauge':
      return plainGauge(description);
    case 'histogram': {
      const histogram = new PlainHistogram(description, buckets);
      return {
        observe: (value, of) => histogram.series(of).observe(value),
        of: (of) => histogram.series(of),
      };
    }
  }
}
