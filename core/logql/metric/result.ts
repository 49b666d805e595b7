import { addTo, textOrder } from '../../base/order.js';
import type { ApiError } from '../../base/errors/api-error.js';
import { apiError } from '../../base/errors/table.js';
import { LabelSet, labelsText, withoutEmpty } from '../../base/label-set.js';
import type { MemoryAccount } from '../../base/memory/account.js';
import {
  entryBytes,
  keptLabelsBytes,
  labelsBytes,
  pointBytes,
  textBytes,
} from '../../base/memory/byte-lru.js';
import { atPace, eachAtPace, type Pacer, sortSteps, type Steps } from '../../base/pace/steps.js';
import type { Grouping, MetricExpr } from '../ast.js';
import { visit } from '../walk.js';
import { type Columns, firstMs } from './windows.js';
import type { MetricLimits, MetricResult, Point, SampleResult, SeriesResult, SeriesRow } from './work.js';

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

type Groups = Pick<Grouping, 'without' | 'labels'>;

/** Maps the labels of a series to those of its group; without a grouping, all series are one group. */
export function groupLabels(grouping: Groups | undefined): (labels: LabelSet) => LabelSet {
  if (grouping === undefined) return () => LabelSet.empty;
  const kept = keepLabels(new Set(grouping.labels), !grouping.without);
  return grouping.without ? (labels) => withoutEmpty(kept(labels)) : kept;
}

/** Keeps the named labels, or all others. */
export function keepLabels(names: ReadonlySet<string>, keepsNamed: boolean): (labels: LabelSet) => LabelSet {
  if (names.size === 0) return keepsNamed ? () => LabelSet.empty : (labels) => labels;
  return ({ labels }) => LabelSet.fromSorted(labels.filter(([name]) => names.has(name) === keepsNamed));
}

/** Loki's order of label sets: by names and values from the left, a prefix first. */
export function compareLabels(a: LabelSet, b: LabelSet): number {
  const shared = Math.min(a.size, b.size);
  for (let index = 0; index < shared; index += 1) {
    const [nameA, valueA] = a.labels[index] ?? ['', ''];
    const [nameB, valueB] = b.labels[index] ?? ['', ''];
    if (nameA !== nameB) return nameA < nameB ? -1 : 1;
    if (valueA !== valueB) return valueA < valueB ? -1 : 1;
  }
  return a.size - b.size;
}

interface ResultOrder {
  readonly expr: MetricExpr;
  /** True if the query sorts its series itself. */
  readonly isSorted: boolean;
  /** True if series have already been left out. */
  readonly isCut: boolean;
}

/**
 * Makes the answer from a query's rows. Series are sorted by labels unless the query sorts them.
 * @throws ApiError `seriesLimit` for more series than allowed, unless the answer may be partial
 */
export async function metricResult(
  rows: readonly SeriesRow[],
  columns: Columns,
  { expr, isSorted, isCut }: ResultOrder,
  limits: MetricLimits,
  pacer: Pacer,
): Promise<MetricResult> {
  const joined = await joinEqual(rows, pacer);
  checkCount(joined.length, limits, isCut);
  const series =
    !isSorted || columns.kind === 'range'
      ? await atPace(
          sortSeriesOf(joined, ([first]) => first.labels, expr, columns, limits.splitMs),
          pacer,
        )
      : joined;
  const { warnings, kept } = await cut(series, limits, isCut, pacer);
  const start = firstMs(columns);
  if (columns.kind === 'instant') {
    const samples: SampleResult[] = [];
    await eachAtPace(kept, pacer, (group) => {
      for (const { labels, values } of group)
        samples.push({ labels, point: { timestampMs: start, value: values[0] ?? 0 } });
    });
    return { kind: 'vector', samples, warnings };
  }
  const matrix: SeriesResult[] = [];
  await eachAtPace(kept, pacer, (group) => {
    limits.memory.charge(pointBytes * countPoints(group), 'the points of the answer');
    matrix.push({ labels: group[0].labels, points: pointsOf(group, columns, start) });
  });
  return { kind: 'matrix', series: matrix, warnings };
}

/** At least one row, all with equal labels. */
type EqualRows = [SeriesRow, ...SeriesRow[]];

async function joinEqual(rows: readonly SeriesRow[], pacer: Pacer): Promise<EqualRows[]> {
  const byKey = new Map<string, EqualRows>();
  await eachAtPace(rows, pacer, (row) => {
    if (row.present.includes(1)) addTo<string, SeriesRow>(byKey, row.labels.key, row);
  });
  return [...byKey.values()];
}

/** Checked before sorting, because there may be many series. */
function checkCount(count: number, { maxSeries, isPartial }: MetricLimits, isCut: boolean): void {
  if (!isPartial && (isCut || (maxSeries > 0 && count > maxSeries))) throw seriesLimitError(maxSeries);
}

function countPoints(group: EqualRows): number {
  let points = 0;
  for (const { present } of group) for (const is of present) points += is;
  return points;
}

async function cut(
  series: readonly EqualRows[],
  { maxSeries }: MetricLimits,
  isCut: boolean,
  pacer: Pacer,
): Promise<{ readonly kept: readonly EqualRows[]; readonly warnings: readonly string[] }> {
  if (!isCut && (maxSeries === 0 || series.length <= maxSeries)) return { kept: series, warnings: [] };
  const warning = `maximum number of series (${String(maxSeries)}) reached for a single query; returning partial results`;
  return { kept: await busiest(series, maxSeries, pacer), warnings: [warning] };
}

/** The series with the largest sums of values, in their original order. */
async function busiest(
  series: readonly EqualRows[],
  count: number,
  pacer: Pacer,
): Promise<readonly EqualRows[]> {
  const sums = new Map<EqualRows, number>();
  await eachAtPace(series, pacer, (group) => sums.set(group, sumOf(group)));
  const bySum = await atPace(
    sortSteps([...series], (a, b) => (sums.get(b) ?? 0) - (sums.get(a) ?? 0)),
    pacer,
  );
  const kept = new Set(bySum.slice(0, count));
  return series.filter((group) => kept.has(group));
}

/** NaN counts as 0, and infinite values as the largest number, so that sums can be compared. */
function sumOf(group: EqualRows): number {
  let sum = 0;
  for (const { values, present } of group)
    for (const [column, value] of values.entries())
      if (present[column] === 1 && !Number.isNaN(value)) sum += value;
  return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, Number.isNaN(sum) ? 0 : sum));
}

/** The points of series with equal labels, which `label_replace` can produce: like Loki, keeps both points at equal times. */
function pointsOf(group: EqualRows, { count, stepMs }: Columns, start: number): readonly Point[] {
  const points: Point[] = [];
  for (let column = 0; column < count; column += 1) {
    for (const { values, present } of group) {
      if (present[column] !== 1) continue;
      points.push({ timestampMs: start + column * stepMs, value: values[column] ?? 0 });
    }
  }
  return points;
}

/** Series printed per step. */
const stepSeries = 1_000;

/**
 * Sorts series as Loki does: by labels. If Loki splits a range into parts, it sorts by the text of the labels, in which a longer set
 * precedes its prefix. It modifies the list.
 * @param splitMs length of the parts, 0 for none; a longer range of the query makes the parts as long
 */
export function* sortSeriesOf<T>(
  series: T[],
  labelsOf: (one: T) => LabelSet,
  expr: MetricExpr,
  columns: Columns,
  splitMs: number,
): Steps<T[]> {
  if (!isSplit(columns, Math.max(splitMs, longestRangeMs(expr)), splitMs > 0))
    return yield* sortSteps(series, (a, b) => compareLabels(labelsOf(a), labelsOf(b)));
  const texts: { readonly one: T; readonly text: string }[] = [];
  for (const one of series) {
    texts.push({ one, text: labelsText(labelsOf(one)) });
    if (texts.length % stepSeries === 0) yield;
  }
  const sorted = yield* sortSteps(texts, (a, b) => textOrder(a.text, b.text));
  return sorted.map(({ one }) => one);
}

/** True when the steps fall into more than one part: a part ends at the step before a multiple of its length. */
function isSplit(columns: Columns, partMs: number, isOn: boolean): boolean {
  const { kind, count, stepMs } = columns;
  if (!isOn || kind === 'instant') return false;
  // The last step belongs to the part before it.
  if (stepMs >= partMs) return count > 2;
  const start = firstMs(columns);
  const end = start + (count - 1) * stepMs;
  const next = (Math.floor(start / partMs) + 1) * partMs;
  const rest = (next - start) % stepMs;
  const last = next - (rest === 0 ? stepMs : rest);
  return last + stepMs < end;
}

function longestRangeMs(expr: MetricExpr): number {
  let longest = 0n;
  visit(expr, (node) => {
    if (node.kind === 'log-range' && node.intervalNanoseconds > longest) longest = node.intervalNanoseconds;
  });
  return Number(longest / 1_000_000n);
}
