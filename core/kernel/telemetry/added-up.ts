import { AggregatorRegistry, type Registry } from 'prom-client';
import { expose, type Exposition, type Measurements } from './exposition.js';

/**
 * The measurements of several processes as one. Each is added up, or merged as its declaration says (`ofWorkers`). What one had counted
 * when it was last heard of stays in the sums when it ends: a counter that falls looks like a restart of the whole.
 */
export class AddedUp {
  readonly #latest = new Map<number, Measurements>();
  #ended: Measurements = [];

  /** What a worker has measured so far. */
  update(worker: number, measurements: Measurements): void {
    this.#latest.set(worker, measurements);
  }

  /** A worker has ended: the next one with its number counts from zero. */
  ended(worker: number): void {
    const counted = this.#latest.get(worker)?.filter(({ type }) => !isGauge(type)) ?? [];
    this.#latest.delete(worker);
    const all = AggregatorRegistry.aggregate([this.#ended, counted]).getMetricsAsArray();
    // The registry holds what it has added up with its values; its type names what all metrics have.
    this.#ended = all as unknown as Measurements;
  }

  /** Everything in the text exposition format, with what is measured beside the workers. */
  async expose(beside: Measurements): Promise<Exposition> {
    return expose(await this.measurements(beside));
  }

  /** The same as data. */
  measurements(beside: Measurements): Promise<Measurements> {
    return this.#with(beside).getMetricsAsJSON();
  }

  #with(beside: Measurements): Registry {
    return AggregatorRegistry.aggregate([...this.#latest.values(), this.#ended, beside]);
  }
}

/** prom-client's types know the kinds of metrics by numbers, its data by names. */
function isGauge(type: unknown): boolean {
  return type === 'gauge';
}
