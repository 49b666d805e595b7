import type { LabelSet } from '../../labels/label-set.js';
import type { SeriesRow } from './types.js';

/** Gathers samples to series: those with equal labels come into one row, and into a second one only where times are equal. */
export class RowCollector {
  readonly #byKey = new Map<string, SeriesRow[]>();
  readonly #count: number;
  /** Samples gathered so far. */
  samples = 0;

  constructor(count: number) {
    this.#count = count;
  }

  /** The rows of one label set, to put samples into. */
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
  rows(): readonly SeriesRow[] {
    return [...this.#byKey.values()].flat().filter(({ present }) => present.includes(1));
  }

  #row(labels: LabelSet): SeriesRow {
    return { labels, values: new Float64Array(this.#count), present: new Uint8Array(this.#count) };
  }
}
