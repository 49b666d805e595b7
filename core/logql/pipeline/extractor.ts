import { type Label, LabelSet } from '../../base/label-set.js';
import { keptLabelsBytes } from '../../base/memory/byte-lru.js';
import type { Grouping, LabelFilterStage, RangeAggregation, Unwrap, VectorAggregation } from '../ast.js';
import { compileStage } from '../stages/index.js';
import { addChecks, compileLabelFilter } from '../stages/label-filter.js';
import { splitLineTests } from '../stages/line-filter.js';
import { orderStages, Output, passesAll, runAll, sampleGrouping, sampleHints } from './output.js';
import { type Conversion, conversionCost, readBytes, readNumber, readSeconds } from './conversions.js';
import { markRequired, Meter, type RunStage, WorkLine } from './work-line.js';
import { ownText, SlotTable, type Slot } from './slot.js';
import {
  errorLabel,
  type PipelineEntry,
  preserveErrorLabel,
  type SampleExtractor,
  type SampleGroups,
} from './types.js';
import { rangeFunctions } from '../functions/range/index.js';

export type { ExtractedSample, SampleExtractor } from './types.js';

const sampleError = 'SampleExtractionErr';

type Groups = Pick<Grouping, 'without' | 'labels'>;

/**
 * Compiles the sample extraction of a range aggregation without unread stages (see withoutUnread): its stages, unwrap and grouping.
 * `pushed` is the grouping of a surrounding vector aggregation, if it may already be applied to samples (see pushedGrouping, and `merged`
 * of Leaf). An entry only throws when a template exceeds its limits.
 * @throws the errors that checkStages turns into Loki's texts, for a stage that cannot be compiled
 */
export function compileExtractor(
  range: RangeAggregation,
  pushed?: SampleGroups,
  meter = new Meter(),
): SampleExtractor {
  const { work, output, readValue, seriesLabels } = compileSampleReader(range, pushed, meter);
  return (entry) => {
    const value = readValue(entry);
    if (value === undefined) return undefined;
    // A line with an error keeps all of its labels, so that a grouping does not lose the error.
    const labels = work.error === '' ? seriesLabels(work) : output.all(work);
    return { value, labels, error: work.showsError ? pipelineErrorOf(labels) : undefined };
  };
}

/** The error that fails the query. Loki looks for it among the labels of the series, where a label of the line may have the same name. */
function pipelineErrorOf(labels: LabelSet): string | undefined {
  if (!labels.has(errorLabel) || labels.get(preserveErrorLabel) === 'true') return undefined;
  return labels.get(errorLabel);
}

/** The parts of an extractor; their state is valid until the next line is read. */
interface SampleReader {
  readonly work: WorkLine;
  readonly output: Output;
  /** True when samples without an error get the labels of a grouping. */
  readonly isGrouped: boolean;
  /** Runs the stages; undefined for an entry without a sample. */
  readonly readValue: (entry: PipelineEntry) => number | undefined;
  readonly seriesLabels: SeriesLabels;
}

/** Compiles the parts of compileExtractor. */
export function compileSampleReader(
  range: RangeAggregation,
  pushed?: SampleGroups,
  meter = new Meter(),
): SampleReader {
  const { unwrap } = range.range;
  const merged = pushed?.isMerged === true ? pushed : undefined;
  const grouping = sampleGrouping(range, merged === undefined ? pushed : undefined);
  const slots = new SlotTable();
  const output = new Output(slots, 'always');
  const hints = sampleHints(range, grouping);
  markRequired(slots, hints);
  const { tests, rest } = splitLineTests(orderStages(range.range.query.stages), meter);
  if (checksEarly(grouping)) {
    // Loki joins several filters after an unwrap into one, of a kind that it does not check early.
    addChecks(unwrap?.filters.length === 1 ? [...rest, ...unwrap.filters] : rest, slots, meter);
  }
  const run = rest.map((stage) => compileStage(stage, { slots, hints, meter }));
  const ofSeries = seriesGrouping(merged === undefined ? grouping : mergedGrouping(merged, unwrap), unwrap);
  const valueOf = unwrap === undefined ? compileCount(range) : compileUnwrap(unwrap, slots, meter);
  const work = new WorkLine(slots, hints, LabelSet.empty, meter);
  return {
    work,
    output,
    isGrouped: ofSeries !== undefined,
    seriesLabels: compileSeriesLabels(ofSeries, slots, output),
    readValue: (entry) => {
      meter.start();
      if (!passesAll(tests, entry.line)) return undefined;
      work.start(entry);
      return runAll(run, work) ? valueOf(work) : undefined;
    },
  };
}

/** With a grouping, Loki's parsers do not compare the values that they find. */
function checksEarly(grouping: Groups | undefined): boolean {
  return grouping === undefined || grouping.without || grouping.labels.length === 0;
}

/** The unwrapped label is not a label of the series unless the grouping names it. */
function seriesGrouping(grouping: Groups | undefined, unwrap: Unwrap | undefined): Groups | undefined {
  if (unwrap === undefined) return grouping;
  if (grouping === undefined) return { without: true, labels: [unwrap.name] };
  return grouping.without ? { without: true, labels: [...grouping.labels, unwrap.name] } : grouping;
}

/** The grouping of merged series, without the unwrapped label. */
function mergedGrouping({ without, labels }: SampleGroups, unwrap: Unwrap | undefined): Groups {
  return { without, labels: without ? labels : labels.filter((name) => name !== unwrap?.name) };
}

type ReadValue = (work: WorkLine) => number | undefined;

function compileCount({ op }: RangeAggregation): ReadValue {
  return rangeFunctions[op].ofLines === 'bytes' ? (work) => Buffer.byteLength(work.line) : () => 1;
}

function compileUnwrap({ name, conversion, filters }: Unwrap, slots: SlotTable, meter: Meter): ReadValue {
  const slot = slots.pin(name);
  const convert = conversionOf(conversion);
  const after: readonly RunStage[] = filters.map(({ filter }: LabelFilterStage) =>
    compileLabelFilter(filter, slots, meter),
  );
  return (work) => {
    const text = work.get(slot);
    if (text === undefined || text === '') return undefined;
    meter.charge(conversionCost * text.length);
    const read = convert(text);
    if (typeof read === 'string') work.fail(sampleError, read);
    if (!runAll(after, work)) return undefined;
    return typeof read === 'string' ? 0 : read;
  };
}

/** The conversion of `unwrap`; it returns a text for an error. */
export function conversionOf(conversion: Unwrap['conversion']): Conversion {
  switch (conversion) {
    case undefined:
      return readNumber;
    case 'bytes':
      return readBytes;
    case 'duration':
    case 'duration_seconds':
      return readSeconds;
  }
}

/** Computes the labels of the series that the current line belongs to. */
type SeriesLabels = (work: WorkLine) => LabelSet;

const maxKept = 50_000;
/** Bytes of a cached label in addition to its value, including its tree node. */
const keptBytes = 240;

/** The labels for a grouping; all labels without one. */
function compileSeriesLabels(
  grouping: Pick<Grouping, 'without' | 'labels'> | undefined,
  slots: SlotTable,
  output: Output,
): SeriesLabels {
  if (grouping === undefined) return (work) => output.all(work);
  const { without, labels } = grouping;
  if (without) {
    const left = new Set(labels.map((name) => slots.pin(name)));
    return (work) => output.all(work, left);
  }
  if (labels.length === 0) return () => LabelSet.empty;
  const sorted = [...new Set(labels)].sort((a, b) => (a < b ? -1 : 1));
  const series = new SeriesTree(sorted.map((name) => slots.pin(name)));
  return (work) => series.of(work);
}

function own(value: string | undefined): string | undefined {
  return value === undefined ? undefined : ownText(value);
}

type Branch = Map<string | undefined, Branch | LabelSet>;

/** Keeps the sets of a `by` grouping in a tree of values: a known series is found without building a key. */
class SeriesTree {
  readonly #slots: readonly Slot[];
  #root: Branch = new Map();
  #kept = 0;
  #bytes = 0;

  constructor(slots: readonly Slot[]) {
    this.#slots = slots;
  }

  of(work: WorkLine): LabelSet {
    let branch = this.#root;
    const last = this.#slots.length - 1;
    for (const [index, slot] of this.#slots.entries()) {
      const value = work.grouped(slot);
      const found = branch.get(value);
      if (index === last) return found instanceof LabelSet ? found : this.#add(work, branch, value);
      if (found instanceof Map) {
        branch = found;
      } else {
        const made: Branch = new Map();
        branch.set(own(value), made);
        branch = made;
      }
    }
    return LabelSet.empty;
  }

  #add(work: WorkLine, branch: Branch, value: string | undefined): LabelSet {
    const labels: Label[] = [];
    for (const slot of this.#slots) {
      const text = work.grouped(slot);
      if (text !== undefined) labels.push([slot.name, ownText(text)]);
    }
    const set = LabelSet.fromSorted(labels);
    branch.set(own(value), set);
    this.#kept += 1;
    for (const [name, text] of labels) this.#bytes += keptBytes + name.length + 2 * text.length;
    if (this.#kept > maxKept || this.#bytes > keptLabelsBytes) {
      this.#root = new Map();
      this.#kept = 0;
      this.#bytes = 0;
    }
    return set;
  }
}

/**
 * The grouping of an aggregation that may be applied to samples before the range function inside it: that of a sum over an additive
 * function. As in Loki, it also decides which labels parsers extract, and so which errors can occur
 * (docs/protocol/errors-and-limits.md#pipeline-errors).
 */
export function pushedGrouping({ op, expr, grouping, span }: VectorAggregation): Grouping | undefined {
  if (expr.kind !== 'range-aggregation' || expr.grouping !== undefined) return undefined;
  const { join } = rangeFunctions[expr.op];
  if (join?.kind !== 'added' || join.op !== op) return undefined;
  return grouping ?? { span, without: false, labels: [] };
}
