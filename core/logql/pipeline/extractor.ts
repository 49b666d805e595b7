import type { Grouping, LabelFilterStage, RangeAggregation, Unwrap } from '../ast.js';
import { LabelSet } from '../../base/labels/label-set.js';
import { dropUnusedLineFormats } from '../check/line-formats.js';
import { rangeFunctions } from '../functions/range/index.js';
import { compileStage, descriptorOf } from '../stages/index.js';
import { addChecks, compileLabelFilter } from '../stages/label-filter.js';
import { splitLineTests } from '../stages/line-filter.js';
import { passesAll, runAll } from './compile.js';
import { conversionCost, readBytes, readNumber, readSeconds, type Conversion } from './conversions.js';
import { hintsFor, markRequired, noHints, type Hints } from './hints.js';
import { orderStages } from './line-order.js';
import { Meter } from './meter.js';
import { Output } from './output.js';
import { compileSeriesLabels, type SeriesLabels } from './series-labels.js';
import { SlotTable } from './slot-table.js';
import type { RunStage } from './work-line.js';
import {
  errorLabel,
  preserveErrorLabel,
  type PipelineEntry,
  type SampleExtractor,
  type SampleGroups,
} from './types.js';
import { WorkLine } from './work-line.js';

export type { ExtractedSample, SampleExtractor } from './types.js';

export const sampleError = 'SampleExtractionErr';

type Groups = Pick<Grouping, 'without' | 'labels'>;

/**
 * Compiles the sample extraction of a range aggregation: its stages, unwrap and grouping. `pushed` is the grouping of a vector aggregation
 * around it, if that may be applied to samples already (see pushedGrouping, and `merged` of Leaf). An entry only throws when a template exceeds its limits.
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

/** The error that fails the query: Loki looks for it among the labels of the series, where a label of the line may have its name. */
function pipelineErrorOf(labels: LabelSet): string | undefined {
  if (!labels.has(errorLabel) || labels.get(preserveErrorLabel) === 'true') return undefined;
  return labels.get(errorLabel);
}

/** The parts of an extractor; their state is valid until the next line is read. */
export interface SampleReader {
  readonly work: WorkLine;
  readonly output: Output;
  /** Whether samples without an error get the labels of a grouping. */
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
  const grouping = groupingOf(range, merged === undefined ? pushed : undefined);
  const slots = new SlotTable();
  const output = new Output(slots, 'always');
  const stages = orderStages(dropUnusedLineFormats(range));
  const names = [...stages, ...(unwrap?.filters ?? [])].flatMap((stage) =>
    descriptorOf(stage).hintedNames(stage),
  );
  const hints = sampleHints(names, grouping, unwrap);
  markRequired(slots, hints);
  const { tests, rest } = splitLineTests(stages, meter);
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

/** The grouping of the samples; a function of nothing needs no labels at all. */
function groupingOf({ op, grouping }: RangeAggregation, pushed: Groups | undefined): Groups | undefined {
  const isOfNothing = rangeFunctions[op].ofNothing !== undefined;
  return isOfNothing ? { without: false, labels: [] } : (grouping ?? pushed);
}

/** With labels to group by, Loki's parsers do not compare what they find. */
function checksEarly(grouping: Groups | undefined): boolean {
  return grouping === undefined || grouping.without || grouping.labels.length === 0;
}

function sampleHints(
  names: readonly string[],
  grouping: Groups | undefined,
  unwrap: Unwrap | undefined,
): Hints {
  if (grouping === undefined || grouping.without) return noHints;
  return hintsFor([...names, ...grouping.labels, ...(unwrap === undefined ? [] : [unwrap.name])]);
}

/** The unwrapped label is not a label of the series unless the grouping names it. */
function seriesGrouping(grouping: Groups | undefined, unwrap: Unwrap | undefined): Groups | undefined {
  if (unwrap === undefined) return grouping;
  if (grouping === undefined) return { without: true, labels: [unwrap.name] };
  return grouping.without ? { without: true, labels: [...grouping.labels, unwrap.name] } : grouping;
}

/** The series that are merged have no label that was unwrapped. */
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

/** How `unwrap` reads values; a text is an error. */
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
