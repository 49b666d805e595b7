import type { LabelSet } from '../../base/labels/label-set.js';
import type { MemoryAccount } from '../../base/memory/account.js';
import { entryBytes, labelsBytes, seriesBytes } from '../../base/memory/sizes.js';
import type { Pacer } from '../../base/pace/pacer.js';
import { eachAtPace } from '../../base/pace/steps.js';
import type { SeriesRow } from './types.js';

/** Collects samples into series: samples with equal labels go into one row, and into another only when their times are equal. */
export class MetricRowCollector {
  readonly #byKey = new Map<string, SeriesRow[]>();
  readonly #count: number;
  readonly #memory: MemoryAccount;
  /** The number of samples so far. */
  samples = 0;

  constructor(count: number, memory: MemoryAccount) {
    this.#count = count;
    this.#memory = memory;
  }

  /** The rows of one label set, for adding samples. */
  of(labels: LabelSet): readonly SeriesRow[] {
    let rows = this.#byKey.get(labels.key);
    if (rows === undefined) this.#byKey.set(labels.key, (rows = [this.#row(labels)]));
    return rows;
  }

  put(labels: LabelSet, column: number, value: number): void {
    let row = this.of(labels).find(({ present }) => present[column] === 0);
    if (row === undefined) {
      row = this.#row(labels);
      this.#byKey.get(labels.key)?.push(row);
    }
    row.present[column] = 1;
    row.values[column] = value;
    this.samples += 1;
  }

  /** The rows that have samples. */
  async rows(pacer: Pacer): Promise<readonly SeriesRow[]> {
    const all: SeriesRow[] = [];
    await eachAtPace(this.#byKey.values(), pacer, (rows) => {
      for (const row of rows) if (row.present.includes(1)) all.push(row);
    });
    return all;
  }

  #row(labels: LabelSet): SeriesRow {
    this.#memory.charge(seriesBytes(this.#count) + labelsBytes(labels) + entryBytes, 'the values of series');
    return { labels, values: new Float64Array(this.#count), present: new Uint8Array(this.#count) };
  }
}
