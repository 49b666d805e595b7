import { compact, expanded, merged, type CompactMetric } from './compact.js';
import { expose, type Exposition, type Measurements } from './exposition.js';

type All = readonly CompactMetric[];

/**
 * The measurements of several processes as one. Each is added up, or merged as its declaration says (`ofWorkers`). What one had counted
 * when it was last heard of stays in the sums when it ends: a counter that falls looks like a restart of the whole.
 */
export class AddedUp {
  readonly #latest = new Map<number, All>();
  #ended: Promise<All> = Promise.resolve([]);

  /** What a worker has measured so far. */
  update(worker: number, measurements: All): void {
    this.#latest.set(worker, measurements);
  }

  /** A worker has ended: the next one with its number counts from zero. */
  ended(worker: number): void {
    const counted = this.#latest.get(worker)?.filter(({ type }) => type !== 'gauge') ?? [];
    this.#latest.delete(worker);
    this.#ended = this.#ended.then((before) => merged([before, counted]));
  }

  /** Everything in the text exposition format, with what is measured beside the workers. */
  async expose(beside: Measurements): Promise<Exposition> {
    return expose(await this.measurements(beside));
  }

  /** The same as data. */
  async measurements(beside: Measurements): Promise<Measurements> {
    const own = await compact(beside);
    const ended = await this.#ended;
    return expanded(await merged([...this.#latest.values(), ended, own]));
  }
}
