import { LabelSet } from '../../base/labels/label-set.js';
import type { MemoryAccount } from '../../base/memory/account.js';
import { entryBytes, keptLabelsBytes, labelsBytes, textBytes } from '../../base/memory/sizes.js';
import type { Steps } from '../../base/pace/steps.js';
import { apiError } from '../../base/errors/table.js';
import type { ApiError } from '../../base/errors/api-error.js';
import { firstMs, type Columns } from './windows.js';
import type { MetricLimits, SeriesRow } from './types.js';

const maxKnown = 16_384;
/** Sets made per step. */
const stepSets = 500;

/** The label sets of series as they are shown. */
export interface ShownSeries {
  /** The shown labels of each series. */
  readonly sets: readonly LabelSet[];
  /** The number of distinct sets among them. */
  readonly shownCount: number;
  /** True when a series did not fit. */
  readonly isFull: boolean;
}

/** Series packed into a few long values, which can be transferred to another thread quickly. */
export interface PackedSeries {
  /** The keys of the distinct sets, concatenated, and the end of each. */
  readonly keys: string;
  readonly ends: Uint32Array<ArrayBuffer>;
  /** For each series the index of its set. */
  readonly shown: Uint32Array<ArrayBuffer>;
  readonly isFull: boolean;
}

export function packSeries({ sets, isFull }: ShownSeries): PackedSeries {
  const numbers = new Map<LabelSet, number>();
  const shown = Uint32Array.from(sets, (set) => {
    let number = numbers.get(set);
    if (number === undefined) numbers.set(set, (number = numbers.size));
    return number;
  });
  const keys = [...numbers.keys()].map(({ key }) => key);
  let end = 0;
  return { keys: keys.join(''), ends: Uint32Array.from(keys, (key) => (end += key.length)), shown, isFull };
}

export function* unpackSeries({ keys, ends, shown, isFull }: PackedSeries): Steps<ShownSeries> {
  const distinct: LabelSet[] = [];
  let from = 0;
  for (const end of ends) {
    distinct.push(LabelSet.fromKey(keys.slice(from, end)));
    from = end;
    if (distinct.length % stepSets === 0) yield;
  }
  const sets: LabelSet[] = [];
  for (const number of shown) sets.push(distinct[number] ?? LabelSet.empty);
  return { sets, shownCount: distinct.length, isFull };
}

/** Numbers label sets from 0: equal sets get the same number, and a repeated object is found quickly. */
export class SeriesIndex implements ShownSeries {
  /** The shown labels of each set. */
  readonly sets: LabelSet[] = [];
  /** True once a set did not fit. */
  isFull = false;
  readonly #shown: ((labels: LabelSet) => LabelSet) | undefined;
  readonly #max: number;
  readonly #shownByKey = new Map<string, LabelSet>();
  readonly #byKey = new Map<string, number>();
  /** Weak, because the text of a set may be slices of long lines. */
  #byObject = new WeakMap<LabelSet, number>();
  #known = 0;
  #keptElsewhere = 0;
  readonly #memory: MemoryAccount;
  #last: LabelSet | undefined;
  #lastNumber = 0;

  /**
   * @param memory charged for every set
   * @param max maximum number of sets; 0 means unlimited
   * @param shown selects the labels to keep; sets that differ only in other labels are still distinguished
   */
  constructor(memory: MemoryAccount, max = 0, shown?: (labels: LabelSet) => LabelSet) {
    this.#memory = memory;
    this.#max = max;
    this.#shown = shown;
  }

  /** The number of a set, or -1 for a new one that does not fit. */
  of(labels: LabelSet): number {
    if (labels === this.#last) return this.#lastNumber;
    let number = this.#byObject.get(labels);
    if (number === undefined) {
      number = this.#byKey.get(labels.key);
      if (number === undefined) {
        number = this.sets.length;
        if (this.#max > 0 && number >= this.#max) {
          this.isFull = true;
          return -1;
        }
        if (this.#keptElsewhere < keptLabelsBytes) {
          // The creator of the set keeps it as well, up to a bound.
          const bytes = labelsBytes(labels);
          this.#keptElsewhere += bytes;
          this.#memory.charge(bytes, 'the labels of series');
        }
        this.sets.push(this.#show(labels));
        this.#byKey.set(labels.key, number);
      }
      // Callers that make a new object for every sample must not fill the memory.
      if (this.#known >= maxKnown) {
        this.#byObject = new WeakMap();
        this.#known = 0;
      }
      this.#known += 1;
      this.#byObject.set(labels, number);
    }
    this.#last = labels;
    this.#lastNumber = number;
    return number;
  }

  /** The number of distinct sets of shown labels. */
  get shownCount(): number {
    return this.#shown === undefined ? this.sets.length : this.#shownByKey.size;
  }

  #show(labels: LabelSet): LabelSet {
    if (this.#shown === undefined) {
      this.#memory.charge(entryBytes + labelsBytes(labels), 'the labels of series');
      return labels.owned();
    }
    const shown = this.#shown(labels);
    this.#memory.charge(entryBytes + textBytes(labels.key), 'the labels of series');
    const known = this.#shownByKey.get(shown.key);
    if (known !== undefined) return known;
    const owned = shown.owned();
    this.#memory.charge(entryBytes + labelsBytes(owned), 'the labels of series');
    this.#shownByKey.set(owned.key, owned);
    return owned;
  }
}

/** Loki's error for an answer with more series than `max_query_series`. */
export function seriesLimitError(limit: number): ApiError {
  return apiError('seriesLimit', { limit });
}

/**
 * Passes on the rows of a leaf whose series Loki counts between queriers and front end: separately for each window that a range is split
 * into. A partial answer is only cut at the end.
 * @throws ApiError `seriesLimit`
 */
export function* cappedRows(
  rows: Iterable<SeriesRow>,
  columns: Columns,
  { maxSeries, isPartial, splitMs }: MetricLimits,
): Generator<SeriesRow> {
  if (maxSeries === 0 || isPartial) {
    yield* rows;
    return;
  }
  const splits = splitsOf(columns, splitMs);
  const counts = new Map<number, number>();
  for (const row of rows) {
    let last = -1;
    for (let column = 0; column < columns.count; column += 1) {
      const split = splits[column] ?? 0;
      if (row.present[column] !== 1 || split === last) continue;
      last = split;
      const count = (counts.get(split) ?? 0) + 1;
      if (count > maxSeries) throw seriesLimitError(maxSeries);
      counts.set(split, count);
    }
    yield row;
  }
}

/** The number of windows that a range is split into. */
export function countSplits(columns: Columns, splitMs: number): number {
  return new Set(splitsOf(columns, splitMs)).size;
}

/** The window number of each column. */
function splitsOf(columns: Columns, splitMs: number): Float64Array {
  const start = firstMs(columns);
  const isSplit = columns.kind === 'range' && splitMs > 0;
  return new Float64Array(columns.count).map((_zero, column) =>
    isSplit ? Math.floor((start + column * columns.stepMs) / splitMs) : 0,
  );
}
