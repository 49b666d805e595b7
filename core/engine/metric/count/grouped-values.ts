import type { RangeAggregation } from '../../../logql/ast.js';
import { rangeFunctions } from '../../../logql/functions/range/index.js';
import { isDividedAverage, pipelineError } from '../../../logql/metric/index.js';
import type { LeafEngine, RangeEngine } from '../../../logql/metric/index.js';
import { type LineEvaluator, sampleEvaluator } from '../../../logql/lines/evaluator.js';
import type { Conversion } from '../../../logql/pipeline/conversions.js';
import {
  compileExtractor,
  conversionOf,
  type ExtractedSample,
  type SampleExtractor,
} from '../../../logql/pipeline/extractor.js';
import { withStages } from '../../../logql/pipeline/output.js';
import type { PipelineEntry, SampleGroups } from '../../../logql/pipeline/types.js';
import { eachAtPace, Pacer } from '../../../base/pace/steps.js';
import { pipelineEntry, type RowReader } from '../../../victoria/names/row-reader.js';
import type { GatheredValues } from '../../../victoria/upstream/gathered-values.js';
import type { BackendRow } from '../../../victoria/upstream/types.js';
import type { LeafContext } from '../context.js';
import { entryOfGroup, type Buckets } from './counting.js';
import type { ValueDigest } from './labels/questions.js';
import type { Unwrapping } from './value-facts.js';
import { decline, type Declined, isDeclined } from '../cost.js';
import type { Get } from './line-digests.js';

/** Number of values read between two checks of the time slice, which takes some hundred microseconds. */
const textsPerStep = 1000;

/** One group of the backend in one time bucket. */
export interface ValueGroup {
  readonly get: Get;
  /** The `_stream` text of a stream with the labels of the group. */
  readonly stream: string;
  /** The last nanosecond of the bucket. */
  readonly endNs: bigint;
  readonly rows: number;
  readonly gathered: GatheredValues;
  readonly summary: ValueSummary | undefined;
}

/** A statistic of those values of a group that are plain numbers (see RangeEngine.addSummary). */
export interface ValueSummary {
  readonly value: number;
  readonly count: number;
  /** The number of the group's other values, which are gathered. */
  readonly others: number;
}

interface GroupedParts {
  /** The statistic that groups have of most values; undefined if all of them are gathered. */
  readonly summary: RangeEngine['summary'];
  readonly into: LeafEngine;
  readonly buckets: Buckets;
  readonly digest: ValueDigest;
  /** The fields of rows by which they are grouped. */
  readonly fields: readonly string[];
}

/** Adds the values of groups to an engine, except for values of repeated rows. */
export class GroupedValues {
  readonly #parts: GroupedParts;
  readonly #range: RangeAggregation;
  readonly #groups: SampleGroups | undefined;
  readonly #reader: RowReader;
  readonly #convert: Conversion;
  /** True for `unwrap f` without a conversion, where the text is the number. */
  readonly #areUnitless: boolean;
  /** Buffer for the numbers of one step. */
  readonly #numbers = new Float64Array(textsPerStep);
  /** The sample of a group, whose rows have passed the filters of the backend. */
  readonly #sampleOfGroup: SampleExtractor;
  readonly #sampleOfLine: LineEvaluator<ExtractedSample | undefined>;
  readonly #counts: LeafContext['counts'];
  readonly #pacer: Pacer;
  #hasEmpty = false;
  #areIntegers = true;
  #hasPositive = false;
  #hasNegative = false;
  /** Sum of the absolute values. */
  #sum = 0;
  /** Counts of values to leave out, because their rows were pushed twice, by bucket end, then by key of the series. */
  readonly #surplus = new Map<bigint, Map<string, CountByValue>>();
  /** Samples of such rows, to be taken out of sums that the backend made. */
  readonly #subtracted: (ExtractedSample & { readonly endNs: bigint })[] = [];

  constructor(
    { range, pushed, merged, unwrap, values }: Unwrapping,
    { reader, workers, counts, signal }: LeafContext,
    parts: GroupedParts,
  ) {
    this.#range = range;
    this.#reader = reader;
    this.#parts = parts;
    this.#convert = conversionOf(unwrap.conversion);
    this.#areUnitless = unwrap.conversion === undefined;
    this.#groups = pushed ?? merged;
    this.#sampleOfGroup = compileExtractor(withStages(range, values.stages), this.#groups);
    this.#sampleOfLine = sampleEvaluator(range, this.#groups, { workers, signal });
    this.#counts = counts;
    this.#pacer = new Pacer(signal);
  }

  /** Number of surplus values that were not found in any group yet. */
  get leftOver(): number {
    let count = 0;
    for (const series of this.#surplus.values())
      for (const counts of series.values()) for (const left of counts.values()) count += left;
    return count;
  }

  /**
   * True if the order of the values seen so far changes only the last digits of a result. Sums of integers below 2^53 are exact, and
   * another sum of n values of one sign is wrong by n * 2^-53 of it at most; values of both signs may cancel out.
   */
  get areOrderless(): boolean {
    const { op } = this.#range;
    const { ofValues, join } = rangeFunctions[op];
    if (ofValues !== 'total' || !this.#hasPositive || !this.#hasNegative) return true;
    const isAdded = join?.kind === 'added' || isDividedAverage(this.#range);
    return isAdded && this.#areIntegers && this.#sum <= Number.MAX_SAFE_INTEGER;
  }

  /** True if a row lacked the value. */
  get hasEmpty(): boolean {
    return this.#hasEmpty;
  }

  /**
   * Leaves out the values of surplus rows; returns the reason if it cannot.
   * @param leavesRebuilt true if rows without a line are read one by one, which leaves out their repeats
   */
  leaveOut(rows: readonly BackendRow[], leavesRebuilt: boolean): Declined | undefined {
    const { summary, buckets } = this.#parts;
    const { range, stepNs } = buckets;
    // The rows that they repeat have the same extremes.
    if (rows.length === 0 || summary === 'least' || summary === 'greatest') return undefined;
    const sampleOf = compileExtractor(this.#range, this.#groups);
    for (const row of rows) {
      const read = this.#reader.read(row);
      if (leavesRebuilt && read.isRebuilt) continue;
      const entry = pipelineEntry(read);
      const sample = sampleOf(entry);
      // An entry with an error fails the query, however often it was pushed.
      if (sample === undefined || sample.error !== undefined) continue;
      const endNs = entry.timestampNs - ((entry.timestampNs - range.startNs) % stepNs) + stepNs - 1n;
      if (summary === 'total') {
        if (!Number.isFinite(sample.value)) return decline('repeated-rows');
        this.#subtracted.push({ ...sample, endNs });
        continue;
      }
      const series = this.#surplus.get(endNs) ?? new Map<string, CountByValue>();
      const counts = series.get(sample.labels.key) ?? new Map<number, number>();
      counts.set(sample.value, (counts.get(sample.value) ?? 0) + 1);
      this.#surplus.set(endNs, series.set(sample.labels.key, counts));
    }
    return undefined;
  }

  /** Call after the last group. */
  async end(): Promise<void> {
    const { engine } = this.#parts.into;
    await eachAtPace(this.#subtracted, this.#pacer, ({ labels, value, endNs }) => {
      engine.addSummary(labels, endNs, -value, -1);
    });
  }

  /**
   * Adds a group; returns the reason if it cannot.
   * @throws ApiError `pipelineError`, `metricValues`, `seriesLimit`, `unexpectedAnswer`
   */
  async add(group: ValueGroup): Promise<Declined | undefined> {
    const { get, endNs, rows } = group;
    this.#counts.counted(rows, 0);
    const line = this.#parts.digest.undecidedLine(get);
    if (line === '') {
      const stopped = await this.#addValues(group);
      if (stopped !== undefined) return stopped;
    } else {
      const sample = await this.#sampleOfLine.of(this.#entryOf(group, line));
      for (let left = rows; left > 0; left -= 1) {
        this.#take(sample, endNs);
        const pause = this.#pacer.due();
        if (pause !== undefined) await pause;
      }
    }
    this.#parts.into.checkSeries();
    return undefined;
  }

  /** Adds the values of rows that were read, once per entry. */
  async addEntries(entries: readonly PipelineEntry[]): Promise<void> {
    for (const entry of entries) {
      // It is a promise for very few entries.
      const made = this.#sampleOfLine.of(entry);
      this.#take(made instanceof Promise ? await made : made, entry.timestampNs);
      const pause = this.#pacer.due();
      if (pause !== undefined) await pause;
    }
    this.#parts.into.checkSeries();
  }

  /** Adds the values of rows that differ only in the value, as long as the values are numbers. */
  async #addValues(group: ValueGroup): Promise<Declined | undefined> {
    const { get, endNs, rows, gathered, summary } = group;
    const sampleOf = (text: string): ExtractedSample | Declined | undefined => {
      const line = this.#parts.digest.lineOf(get, text);
      if (line === undefined) return decline('no-matching-line');
      return this.#sampleOfGroup(this.#entryOf(group, line, text));
    };
    let usual: ExtractedSample | 'none' | undefined;
    if (summary !== undefined) this.#hasEmpty ||= summary.count + summary.others < rows;
    if (summary !== undefined && summary.count > 0) {
      // Only the value of a sample depends on the number.
      const sample = sampleOf('0');
      if (sample !== undefined && isDeclined(sample)) return sample;
      usual = sample ?? 'none';
      if (sample !== undefined) this.#addSummary(sample, endNs, summary);
    }
    const numbers = this.#numbers;
    let count = 0;
    const takeNumbers = (): void => {
      if (usual !== undefined && usual !== 'none') this.#takeAll(usual, endNs, numbers.subarray(0, count));
      count = 0;
    };
    let texts = 0;
    let others = 0;
    for (;;) {
      if (usual !== undefined && this.#areUnitless) {
        const before = count;
        count = gathered.numbers(numbers, count);
        others += count - before;
      }
      if (count === numbers.length) takeNumbers();
      const text = gathered.text();
      if (text === undefined) break;
      texts += 1;
      others += 1;
      const pause = count === 0 || texts % textsPerStep === 0 ? this.#pacer.due() : undefined;
      if (pause !== undefined) await pause;
      this.#hasEmpty ||= text === '';
      if (text === '') continue;
      const value = this.#convert(text);
      if (typeof value === 'number' && usual !== undefined) {
        numbers[count] = value;
        count += 1;
        continue;
      }
      const sample = sampleOf(text);
      if (sample !== undefined && isDeclined(sample)) return sample;
      if (typeof value === 'number') usual = sample ?? 'none';
      this.#take(sample, endNs);
    }
    takeNumbers();
    return summary !== undefined && others < summary.others ? decline('too-many-values') : undefined;
  }

  #addSummary({ labels, error }: ExtractedSample, endNs: bigint, { value, count }: ValueSummary): void {
    const { engine } = this.#parts.into;
    if (!engine.isInWindow(endNs)) return;
    if (error !== undefined) throw pipelineError(error, labels);
    this.#see(value);
    engine.addSummary(labels, endNs, value, count);
  }

  #take(sample: ExtractedSample | undefined, endNs: bigint): void {
    const { engine } = this.#parts.into;
    if (sample === undefined || !engine.isInWindow(endNs)) return;
    if (sample.error !== undefined) throw pipelineError(sample.error, sample.labels);
    if (isLeftOut(sample.value, this.#surplusOf(sample, endNs))) return;
    this.#see(sample.value);
    engine.add(sample.labels, endNs, sample.value);
  }

  #see(value: number): void {
    this.#sum += Math.abs(value);
    this.#areIntegers &&= Number.isInteger(value);
    this.#hasPositive ||= value > 0;
    this.#hasNegative ||= value < 0;
  }

  /**
   * Adds values as samples that equal this one, which has no error, in everything else.
   * @param values is overwritten
   */
  #takeAll(sample: ExtractedSample, endNs: bigint, values: Float64Array): void {
    const surplus = this.#surplusOf(sample, endNs);
    let count = 0;
    for (const value of values) {
      if (isLeftOut(value, surplus)) continue;
      this.#see(value);
      values[count] = value;
      count += 1;
    }
    this.#parts.into.engine.addAll(sample.labels, endNs, values.subarray(0, count));
  }

  #surplusOf({ labels }: ExtractedSample, endNs: bigint): CountByValue | undefined {
    return this.#surplus.get(endNs)?.get(labels.key);
  }

  #entryOf({ get, stream }: Pick<ValueGroup, 'get' | 'stream'>, line: string, value = ''): PipelineEntry {
    const { digest, fields: names } = this.#parts;
    const { isStored, valueColumn } = digest;
    const fields = names.map((name) => [name, get(name) ?? ''] as const);
    const stored = isStored === true ? [[valueColumn, value] as const] : [];
    const level = digest.levelOf?.(get);
    const representative = level === undefined ? { line } : { line, level };
    return entryOfGroup(this.#reader, stream, [...fields, ...stored], representative);
  }
}

/** Number of rows to leave out, by value. */
type CountByValue = Map<number, number>;

/** True if a row with this value is to be left out, which is counted off. */
function isLeftOut(value: number, counts: CountByValue | undefined): boolean {
  const left = counts?.get(value) ?? 0;
  if (left > 0) counts?.set(value, left - 1);
  return left > 0;
}
