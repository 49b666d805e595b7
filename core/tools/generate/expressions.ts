import type { MetricSpec, MetricSpecs } from '../../base/meters.js';
import { metricPrefix } from '../../kernel/telemetry/names.js';

/** Conditions on labels: a value, or a regular expression after `~`. */
export type Where = Readonly<Record<string, string>>;

/**
 * PromQL over declared metrics. Every method throws an Error for a metric, a label or a type that is not declared, so that no panel or
 * alert can query a metric that no proxy exposes. `more` are conditions added to every selector, as PromQL.
 */
export class Expressions {
  readonly #metrics: MetricSpecs;
  readonly #more: readonly string[];
  readonly #interval: string;

  constructor(metrics: MetricSpecs, interval: string, more: readonly string[] = []) {
    this.#metrics = metrics;
    this.#interval = interval;
    this.#more = more;
  }

  /** Increase of counters per second, summed by labels. */
  rate(counter: string, by: readonly string[] = [], where: Where = {}): string {
    return this.#sum(counter, `rate(${this.#select(counter, 'counter', where)}[${this.#interval}])`, by);
  }

  /** Total increase of counters. A series with labels starts with its first count, which `increase` omits. */
  growth(counter: string, where: Where = {}): string {
    const selected = this.#select(counter, 'counter', where);
    const grown = `increase(${selected}[${this.#interval}])`;
    if ((this.#check(counter, []).labels ?? []).length === 0) return `sum(${grown})`;
    const before = `${selected} offset ${this.#interval}`;
    return `sum((${grown} and ${before}) or (${selected} unless ${before}))`;
  }

  /** Gauges, summed by labels. */
  level(gauge: string, by: readonly string[] = [], where: Where = {}): string {
    return this.#sum(gauge, this.#select(gauge, 'gauge', where), by);
  }

  /** Maximum of gauges by labels. */
  largest(gauge: string, by: readonly string[] = [], where: Where = {}): string {
    return this.#over('max', gauge, this.#select(gauge, 'gauge', where), by);
  }

  /** Minimum of gauges by labels. */
  smallest(gauge: string, by: readonly string[] = [], where: Where = {}): string {
    return this.#over('min', gauge, this.#select(gauge, 'gauge', where), by);
  }

  /** The value below which the given ratio (0 to 1) of the observations lies. */
  quantile(ratio: number, histogram: string, by: readonly string[] = [], where: Where = {}): string {
    const rate = `rate(${this.#select(histogram, 'histogram', where, '_bucket')}[${this.#interval}])`;
    this.#check(histogram, by);
    return `histogram_quantile(${ratio}, sum by (${['le', ...by].join(', ')}) (${rate}))`;
  }

  #sum(name: string, of: string, by: readonly string[]): string {
    return this.#over('sum', name, of, by);
  }

  #over(what: string, name: string, of: string, by: readonly string[]): string {
    this.#check(name, by);
    return by.length === 0 ? `${what}(${of})` : `${what} by (${by.join(', ')}) (${of})`;
  }

  #select(name: string, type: MetricSpec['type'], where: Where, suffix = ''): string {
    const spec = this.#check(name, Object.keys(where));
    if (spec.type !== type) throw new Error(`the metric ${name} is no ${type}`);
    const own = Object.entries(where).map(([label, value]) =>
      value.startsWith('~') ? `${label}=~"${value.slice(1)}"` : `${label}="${value}"`,
    );
    const conditions = [...this.#more, ...own].join(', ');
    return `${metricPrefix}${name}${suffix}${conditions === '' ? '' : `{${conditions}}`}`;
  }

  #check(name: string, labels: readonly string[]): MetricSpec {
    const spec = Object.hasOwn(this.#metrics, name) ? this.#metrics[name] : undefined;
    if (spec === undefined) throw new Error(`no metric ${name} is declared`);
    for (const label of labels)
      if (label !== 'instance' && spec.labels?.includes(label) !== true)
        throw new Error(`the metric ${name} has no label ${label}`);
    return spec;
  }
}
