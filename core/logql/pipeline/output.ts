import { type Label, LabelSet } from '../../base/label-set.js';
import { keptLabelsBytes } from '../../base/memory/byte-lru.js';
import type { Grouping, RangeAggregation, Stage } from '../ast.js';
import { rangeFunctions } from '../functions/range/index.js';
import { compileStage, descriptorOf } from '../stages/index.js';
import { addChecks } from '../stages/label-filter.js';
import { splitLineTests } from '../stages/line-filter.js';
import { metadata, ownText, parsed, type Slot, type SlotState, SlotTable } from './slot.js';
import {
  errorDetailsLabel,
  errorLabel,
  type LineTest,
  type Pipeline,
  type PipelineEntry,
  type PipelineLine,
} from './types.js';
import { type Hints, hintsFor, Meter, noHints, type RunStage, WorkLine } from './work-line.js';

type Groups = Pick<Grouping, 'without' | 'labels'>;

/** The grouping of the samples. `absent_over_time` needs no labels at all. */
export function sampleGrouping(
  { op, grouping }: RangeAggregation,
  pushed: Groups | undefined,
): Groups | undefined {
  const isOfNothing = rangeFunctions[op].ofNothing !== undefined;
  return isOfNothing ? { without: false, labels: [] } : (grouping ?? pushed);
}

/** The work that parsers may skip in a range aggregation whose samples have this grouping. */
export function sampleHints({ range }: RangeAggregation, grouping: Groups | undefined): Hints {
  if (grouping === undefined || grouping.without) return noHints;
  const { query, unwrap } = range;
  const stages: readonly Stage[] = [...query.stages, ...(unwrap?.filters ?? [])];
  const names = stages.flatMap((stage) => descriptorOf(stage).hintedNames(stage));
  return hintsFor([...names, ...grouping.labels, ...(unwrap === undefined ? [] : [unwrap.name])]);
}

/**
 * The stages of a range aggregation as Loki runs them: a `line_format` whose line no later stage reads is dropped, even an invalid one,
 * unless bytes are counted.
 */
export function dropUnusedLineFormats({ op, range }: RangeAggregation): readonly Stage[] {
  const { stages } = range.query;
  if (rangeFunctions[op].ofLines === 'bytes') return stages;
  const lastReader = stages.findLastIndex((stage) => descriptorOf(stage).readsLine);
  return stages.filter(
    (stage, index) => descriptorOf(stage).changesLine !== 'for-readers' || index < lastReader,
  );
}

/**
 * A range aggregation without the stages that do not affect its samples: those that Loki drops, parsers that it skips, and stages that
 * change a line that nothing reads, if they cannot fail.
 * @param pushed the grouping of a vector aggregation around it, see pushedGrouping
 */
export function withoutUnread(range: RangeAggregation, pushed?: Groups): RangeAggregation {
  const asLoki = withStages(range, dropUnusedLineFormats(range));
  const read = withStages(asLoki, withoutSkipped(asLoki, pushed));
  return withStages(read, withoutUnreadChanges(read));
}

function withoutSkipped(range: RangeAggregation, pushed: Groups | undefined): readonly Stage[] {
  const { stages } = range.range.query;
  const { skipsParsers } = sampleHints(range, sampleGrouping(range, pushed));
  // `regexp` runs in any case, and a template sees its labels.
  if (!skipsParsers || stages.some(seesAll)) return stages;
  return stages.filter((stage) => descriptorOf(stage).source(stage) === undefined);
}

function withoutUnreadChanges({ op, range }: RangeAggregation): readonly Stage[] {
  const { stages } = range.query;
  if (rangeFunctions[op].ofLines === 'bytes') return stages;
  const lastReader = stages.findLastIndex((stage) => descriptorOf(stage).readsLine || seesAll(stage));
  return stages.filter((stage, index) => index < lastReader || !onlyChangesLine(stage));
}

/** True if a template may read any label, and maybe the line. */
function seesAll(stage: Stage): boolean {
  return descriptorOf(stage).names(stage) === 'all';
}

function onlyChangesLine(stage: Stage): boolean {
  const descriptor = descriptorOf(stage);
  const isParser = descriptor.source(stage) !== undefined;
  return descriptor.changesLine !== 'no' && !isParser && descriptor.errors(stage) === 'kept';
}

/** A range aggregation with other stages. */
export function withStages(range: RangeAggregation, stages: readonly Stage[]): RangeAggregation {
  if (stages.length === range.range.query.stages.length) return range;
  return { ...range, range: { ...range.range, query: { ...range.range.query, stages } } };
}

/**
 * The order in which Loki runs stages: line filters move before stages that, to Loki's knowledge, do not change the line, back to the last
 * one that does (`order` of a descriptor).
 */
export function orderStages(stages: readonly Stage[]): readonly Stage[] {
  const ordered: Stage[] = [];
  let filters: Stage[] = [];
  let others: Stage[] = [];
  const flush = (): void => {
    ordered.push(...filters, ...others);
    filters = [];
    others = [];
  };
  for (const stage of stages) {
    const { order } = descriptorOf(stage);
    if (order === 'filter') filters.push(stage);
    else others.push(stage);
    if (order === 'barrier') flush();
  }
  flush();
  return ordered;
}

const noSlots: ReadonlySet<Slot> = new Set();

/** Makes the label sets of a finished line. */
export class Output {
  readonly #pool: LabelSetPool;
  readonly #error: Slot;
  readonly #errorDetails: Slot;
  readonly #sortMetadata = new SlotSorter();
  readonly #sortParsed = new SlotSorter();
  readonly #sortAll = new SlotSorter();

  constructor(slots: SlotTable, use: PoolUse) {
    this.#pool = new LabelSetPool(use);
    this.#error = slots.pin(errorLabel);
    this.#errorDetails = slots.pin(errorDetailsLabel);
  }

  /** The line with its labels by group. The work line must not be used afterwards. */
  line(work: WorkLine, entry: PipelineEntry): PipelineLine {
    this.#addErrors(work);
    return {
      line: work.line,
      stream: work.changesStream ? this.#streamLabels(work) : entry.stream,
      structuredMetadata: work.changesMetadata
        ? this.#pool.of(labelsOf(this.#sortMetadata.sort(slotsIn(work, metadata))))
        : entry.structuredMetadata,
      formatted: work.formatted,
      parsed: this.#pool.of(labelsOf(this.#sortParsed.sort(slotsIn(work, parsed)))),
    };
  }

  /** All labels in one set, except `without`, and with these the errors. The work line must not be used afterwards. */
  all(work: WorkLine, without: ReadonlySet<Slot> = noSlots): LabelSet {
    if (without.size === 0) this.#addErrors(work);
    if (work.touchedCount === 0 && without.size === 0) return work.base.set;
    const all = work.visible();
    const visible = without.size === 0 ? all : all.filter((slot) => !without.has(slot));
    return this.#pool.of(this.#sortAll.sort(visible).map((slot): Label => [slot.name, work.get(slot) ?? '']));
  }

  #streamLabels({ base, serial }: WorkLine): LabelSet {
    const rest: Label[] = [];
    for (const slot of base.slots) {
      if (slot.touchedAt !== serial) rest.push([slot.name, base.value(slot) ?? '']);
    }
    return this.#pool.of(rest);
  }

  #addErrors(work: WorkLine): void {
    const { error, shownDetails } = work;
    if (error !== '') work.set(this.#error, error);
    if (shownDetails !== '') work.set(this.#errorDetails, shownDetails);
  }
}

function slotsIn({ touched, touchedCount }: WorkLine, state: SlotState): readonly Slot[] {
  const found: Slot[] = [];
  for (let index = 0; index < touchedCount; index += 1) {
    const slot = touched[index];
    if (slot?.state === state) found.push(slot);
  }
  return found;
}

function labelsOf(slots: readonly Slot[]): readonly Label[] {
  const labels: Label[] = [];
  for (const slot of slots) labels.push([slot.name, slot.text()]);
  return labels;
}

/** Sorts slots by name. Lines of one source have the same fields in the same order, so the previous order usually still fits. */
class SlotSorter {
  #last: readonly Slot[] = [];
  #order: readonly number[] = [];

  sort(slots: readonly Slot[]): readonly Slot[] {
    if (!this.#isLast(slots)) this.#learn(slots);
    const sorted: Slot[] = [];
    for (const index of this.#order) {
      const slot = slots[index];
      if (slot !== undefined) sorted.push(slot);
    }
    return sorted;
  }

  #isLast(slots: readonly Slot[]): boolean {
    const last = this.#last;
    if (slots.length !== last.length) return false;
    for (let index = 0; index < slots.length; index += 1) if (slots[index] !== last[index]) return false;
    return true;
  }

  #learn(slots: readonly Slot[]): void {
    this.#last = slots;
    this.#order = slots
      .map(({ name }, index) => ({ name, index }))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ index }) => index);
  }
}

const maxSets = 8192;
/** Bytes per label in addition to its value. */
const labelBytes = 120;
/** Number of sets after which the pool evaluates its hit rate. Until then its size is bounded by that number. */
const trial = 128;
/** Inverse of the hit rate below which a pool costs more than it saves. */
const leastUse = 8;

type PoolUse = 'always' | 'while-useful';

/** Returns the same LabelSet for equal labels while it is pooled, so that grouping by sets computes their keys only once. */
class LabelSetPool {
  readonly #sets = new Map<string, LabelSet>();
  readonly #use: PoolUse;
  #asked = 0;
  #found = 0;
  #bytes = 0;

  constructor(use: PoolUse) {
    this.#use = use;
  }

  /** The set for labels that are sorted by name. */
  of(labels: readonly Label[]): LabelSet {
    if (labels.length === 0) return LabelSet.empty;
    if (this.#use === 'while-useful' && this.#isUseless()) return LabelSet.fromSorted(labels);
    // The parts are joined into one text at the end: growing strings would be copied by every collection until then.
    const parts: (string | number)[] = [];
    for (const [name, value] of labels) parts.push(name, '\u0000', value.length, ':', value);
    const key = parts.join('');
    let set = this.#sets.get(key);
    this.#asked += 1;
    if (set !== undefined) {
      this.#found += 1;
      return set;
    }
    const bytes = 2 * key.length + labels.length * labelBytes;
    if (this.#sets.size >= maxSets || this.#bytes + bytes > keptLabelsBytes) {
      this.#sets.clear();
      this.#bytes = 0;
    }
    // A set that would use up much of the pool is not pooled.
    if (bytes > keptLabelsBytes / 8) return LabelSet.fromSorted(labels);
    this.#bytes += bytes;
    set = LabelSet.fromSorted(labels.map(([name, value]): Label => [name, ownText(value)]));
    this.#sets.set(key, set);
    return set;
  }

  #isUseless(): boolean {
    return this.#asked >= trial && this.#found * leastUse < this.#asked;
  }
}

export type { Pipeline } from './types.js';

/**
 * Compiles the stages of a log query, once per query. The result runs on any number of lines, one after the other. It only throws when a
 * template's text exceeds the limits (ApiError `lineFormatLimit`), or when the meter has a limit and the line exceeds it.
 * @throws the errors that checkStages turns into Loki's texts, for a stage that cannot be compiled
 */
export function compilePipeline(stages: readonly Stage[], meter = new Meter()): Pipeline {
  const { tests, rest } = splitLineTests(orderStages(stages), meter);
  const slots = new SlotTable();
  const output = new Output(slots, 'while-useful');
  addChecks(rest, slots, meter);
  const run = rest.map((stage) => compileStage(stage, { slots, hints: noHints, meter }));
  const work = new WorkLine(slots, noHints, LabelSet.empty, meter);
  return (entry) => {
    meter.start();
    if (!passesAll(tests, entry.line)) return undefined;
    if (run.length === 0 && entry.structuredMetadata.size === 0) {
      const { line, stream, structuredMetadata } = entry;
      return { line, stream, structuredMetadata, parsed: LabelSet.empty, formatted: 0 };
    }
    work.start(entry);
    return runAll(run, work) ? output.line(work, entry) : undefined;
  };
}

export function passesAll(tests: readonly LineTest[], line: string): boolean {
  for (const test of tests) if (!test(line)) return false;
  return true;
}

/** Runs the stages in order; false when one drops the line. */
export function runAll(stages: readonly RunStage[], work: WorkLine): boolean {
  for (const stage of stages) if (!stage(work)) return false;
  return true;
}
