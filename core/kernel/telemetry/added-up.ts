/** Adds up what several processes have measured, in steps, so that requests are answered in the meantime. */
import { ofKey } from '../../base/memory/byte-lru.js';
import { eachAtPace, Pacer } from '../../base/pace/steps.js';
import type { Labels, Measured, MeasuredSeries, Measurements } from './series.js';

const together: Readonly<Record<string, (a: number, b: number) => number>> = {
  sum: (a, b) => a + b,
  average: (a, b) => a + b,
  min: Math.min,
  max: Math.max,
};

/** Merges the metrics of several processes, each according to its declaration (`ofWorkers`). */
async function merged(lists: readonly Measurements[]): Promise<Measurements> {
  const pacer = new Pacer();
  const all = new Map<string, { readonly metric: Measured; readonly series: Map<string, Sum> }>();
  for (const list of lists)
    for (const metric of list) {
      const known = ofKey(all, metric.name, () => ({ metric, series: new Map<string, Sum>() }));
      const combine = together[metric.aggregator] ?? Math.max;
      await eachAtPace(metric.series, pacer, ([labels, numbers]) => {
        const key = keyOf(labels);
        const sum = known.series.get(key);
        if (sum === undefined) known.series.set(key, { labels, numbers: [...numbers], of: 1 });
        else {
          sum.of += 1;
          for (const [at, number] of numbers.entries())
            sum.numbers[at] = combine(sum.numbers[at] ?? 0, number);
        }
      });
    }
  const metrics: Measured[] = [];
  for (const { metric, series } of all.values()) {
    const isAverage = metric.aggregator === 'average';
    const own: MeasuredSeries[] = [];
    await eachAtPace(series.values(), pacer, ({ labels, numbers, of }) => {
      own.push([labels, isAverage ? numbers.map((number) => number / of) : numbers]);
    });
    metrics.push({ ...metric, series: own });
  }
  return metrics;
}

interface Sum {
  readonly labels: Labels;
  readonly numbers: number[];
  of: number;
}

/** A key that is equal for equal labels in any order. */
function keyOf(labels: Labels): string {
  let key = '';
  for (const name of Object.keys(labels).sort()) key += `${name}\u0000${labels[name] ?? ''}\u0001`;
  return key;
}

/**
 * The merged measurements of several processes. Each metric is summed, or merged according to its declaration (`ofWorkers`). The last known
 * counts of a process that has ended stay in the sums, because a falling counter would look like a restart of the whole.
 */
export class AddedUp {
  readonly #latest = new Map<number, Measurements>();
  #ended: Promise<Measurements> = Promise.resolve([]);

  /** Stores the current measurements of a worker. */
  update(worker: number, measurements: Measurements): void {
    this.#latest.set(worker, measurements);
  }

  /** Keeps the counts of a worker that has ended: its successor with the same number counts from zero. */
  ended(worker: number): void {
    const counted = this.#latest.get(worker)?.filter(({ type }) => type !== 'gauge') ?? [];
    this.#latest.delete(worker);
    this.#ended = this.#ended.then((before) => merged([before, counted]));
  }

  /** All metrics, together with measurements made outside the workers. */
  async measurements(beside: Measurements): Promise<Measurements> {
    const ended = await this.#ended;
    return merged([...this.#latest.values(), ended, beside]);
  }
}
