import type { LabelSet } from '../../base/label-set.js';
import {
  type BaseLabels,
  type Decoding,
  deleted,
  metadata,
  parsed,
  type Slot,
  type SlotTable,
  verbatim,
} from './slot.js';
import {
  clashSuffix,
  errorDetailsLabel,
  errorLabel,
  type PipelineEntry,
  preserveErrorLabel,
} from './types.js';

/**
 * Work that parsers may skip. A metric query only uses the labels that its stages and its grouping name, so parsers extract no others, stop
 * once all are found, and do not run when none are needed. Errors that are missed this way stay unreported, as in Loki.
 */
export interface Hints {
  /** Names that parsers extract; undefined when every label may be used, and for a parser that runs although it could be skipped. */
  readonly required: ReadonlySet<string> | undefined;
  /** True when parsers do not run at all, except `regexp`. */
  readonly skipsParsers: boolean;
  /** True if the query names `__error__`, so errors of parsers must not fail it. */
  readonly preservesErrors: boolean;
}

/** Log queries show all labels. */
export const noHints: Hints = { required: undefined, skipsParsers: false, preservesErrors: false };

/** The hints for a query that only uses these names. */
export function hintsFor(names: readonly string[]): Hints {
  const required = new Set<string>();
  for (const name of names) {
    required.add(name);
    // A label renamed because of a name clash has the plain name in the line.
    if (name.endsWith(clashSuffix)) required.add(name.slice(0, -clashSuffix.length));
  }
  const skipsParsers = required.size === 0;
  return {
    required: skipsParsers ? undefined : required,
    skipsParsers,
    preservesErrors: required.has(errorLabel),
  };
}

/** Marks the slots of required names, which the query keeps for its lifetime. */
export function markRequired(slots: SlotTable, { required }: Hints): void {
  for (const name of required ?? []) slots.pin(name).isRequired = true;
}

/** Thrown when a line would take longer than allowed here. Partial results are discarded. */
export class TooCostly extends Error {
  override readonly name = 'TooCostly';
}

// A shared instance: it carries no information, and stack traces are expensive to create.
const tooCostly = new TooCostly('the line costs too much to be evaluated here');

/**
 * The estimated cost of evaluating one line, in nanoseconds, charged before the work: the cost of a stage per character times the
 * characters it reads. Without a limit nothing is too costly.
 */
export class Meter {
  readonly #limit: number;
  readonly #nowMs: () => number;
  #spent = 0;
  #startedAt: number | undefined;

  /** `nowMs` reads a clock that never runs backwards, in milliseconds. */
  constructor(limit = Infinity, nowMs = () => performance.now()) {
    this.#limit = limit;
    this.#nowMs = nowMs;
  }

  /** Call before each line. */
  start(): void {
    this.#spent = 0;
    this.#startedAt = undefined;
  }

  /** The cost of the line so far. */
  get spent(): number {
    return this.#spent;
  }

  /** @throws TooCostly when this and all previous charges exceed the limit */
  charge(nanoseconds: number): void {
    this.#spent += nanoseconds;
    if (this.#spent > this.#limit) throw tooCostly;
  }

  /** Checks the clock, for work whose amount cannot be estimated. */
  tick(): void {
    if (this.#limit === Infinity) return;
    const now = this.#nowMs();
    this.#startedAt ??= now;
    if ((now - this.#startedAt) * 1e6 > this.#limit) throw tooCostly;
  }
}

/** A compiled stage: changes the line's state; false drops the line. */
export type RunStage = (work: WorkLine) => boolean;

/** The current line in the pipeline with its labels: one object for all lines of a query, changed in place. */
export class WorkLine {
  readonly slots: SlotTable;
  readonly hints: Hints;
  readonly meter: Meter;
  line = '';
  timestampNs = 0n;
  /** The value of `__error__`, or an empty text. */
  error = '';
  errorDetails = '';
  /** Slots that this line has set or deleted: the first `touchedCount` items. */
  readonly touched: Slot[] = [];
  touchedCount = 0;
  /** True when a stream label is hidden or deleted. */
  changesStream = false;
  /** True when the metadata differ from the entry's. */
  changesMetadata = false;
  base: BaseLabels;
  /** Characters that templates have created for this line. */
  formatted = 0;
  readonly #requiredCount: number;
  readonly #preserved: Slot;
  readonly #error: Slot;
  #serial = 0;
  #requiredFound = 0;

  constructor(slots: SlotTable, hints: Hints, nothing: LabelSet, meter: Meter) {
    this.slots = slots;
    this.hints = hints;
    this.meter = meter;
    this.base = slots.base(nothing);
    this.#requiredCount = hints.required?.size ?? 0;
    this.#preserved = slots.pin(preserveErrorLabel);
    this.#error = slots.pin(errorLabel);
  }

  /** The line's number, unique within this query. */
  get serial(): number {
    return this.#serial;
  }

  /**
   * Call before the line is read, with the maximum cost per character.
   * @throws TooCostly
   */
  charge(nanoseconds: number): void {
    this.meter.charge(nanoseconds * this.line.length);
  }

  start(entry: PipelineEntry): void {
    this.slots.trim();
    this.#serial += 1;
    this.line = entry.line;
    this.timestampNs = entry.timestampNs;
    this.error = '';
    this.errorDetails = '';
    this.formatted = 0;
    this.touchedCount = 0;
    this.changesStream = false;
    this.changesMetadata = false;
    this.#requiredFound = 0;
    this.base = this.slots.base(entry.stream);
    for (const [name, value] of entry.structuredMetadata.labels) this.#addMetadata(name, value);
  }

  #addMetadata(name: string, value: string): void {
    if (name === errorLabel || name === errorDetailsLabel) {
      if (name === errorLabel) this.error = value;
      else this.errorDetails = value;
      this.changesMetadata = true;
      return;
    }
    let slot = this.slots.slot(name);
    if (this.base.value(slot) !== undefined) {
      slot = this.slots.clashOf(slot);
      this.changesMetadata = true;
    }
    this.#touch(slot);
    slot.state = metadata;
    slot.value = value;
  }

  /** The value of a label as stages see it; errors are not labels. */
  get(slot: Slot): string | undefined {
    if (slot.touchedAt !== this.#serial) return this.base.value(slot);
    return slot.state === deleted ? undefined : slot.text();
  }

  /** The slots of all labels that stages can see. */
  visible(): readonly Slot[] {
    const slots: Slot[] = [];
    for (const slot of this.base.slots) if (slot.touchedAt !== this.#serial) slots.push(slot);
    for (let index = 0; index < this.touchedCount; index += 1) {
      const slot = this.touched[index];
      if (slot !== undefined && slot.state !== deleted) slots.push(slot);
    }
    return slots;
  }

  /** True when templates see any label. */
  get hasLabels(): boolean {
    const { base, touched, touchedCount } = this;
    if (this.error !== '' || this.shownDetails !== '') return true;
    if (base.slots.some((slot) => slot.touchedAt !== this.#serial)) return true;
    for (let index = 0; index < touchedCount; index += 1) if (touched[index]?.state !== deleted) return true;
    return false;
  }

  /** Sets a parsed label, replacing any other label of that name. */
  set(slot: Slot, value: string): void {
    this.#touch(slot);
    slot.state = parsed;
    slot.value = value;
    this.#markExtracted(slot);
  }

  /** Deletes a label. A label that the line lacks counts as changed all the same. */
  delete(slot: Slot): void {
    this.#touch(slot);
    slot.state = deleted;
    slot.deletedAt = this.#serial;
  }

  /** The value of a label that `by` names. A label that was deleted once is left out of the grouping, even if it was set again. */
  grouped(slot: Slot): string | undefined {
    return slot.deletedAt === this.#serial ? undefined : this.get(slot);
  }

  /** True when the stream or the metadata have a label of this name. */
  isTaken(slot: Slot): boolean {
    return (
      this.base.value(slot) !== undefined || (slot.touchedAt === this.#serial && slot.state === metadata)
    );
  }

  /** The slot for a parsed value of this name: a different one when the name is taken. */
  target(slot: Slot): Slot {
    return this.isTaken(slot) ? this.slots.clashOf(slot) : slot;
  }

  /** True when a parser should extract a value for this slot: the first value that any stage sets wins. */
  wants(target: Slot): boolean {
    return (this.hints.required === undefined || target.isRequired) && target.extractedAt !== this.#serial;
  }

  /** Sets a parser's value as offsets, which are decoded when a stage reads it. Call `wants` first. */
  take(target: Slot, source: string, from: number, to: number, decoding: Decoding): void {
    this.#touch(target);
    target.state = parsed;
    target.value = undefined;
    target.source = source;
    target.from = from;
    target.to = to;
    target.decoding = decoding;
    this.#markExtracted(target);
  }

  takeText(target: Slot, value: string): void {
    this.take(target, '', 0, 0, verbatim);
    target.value = value;
  }

  /** True when the line passes the query's comparison with the label that a parser has just set. */
  passes(target: Slot): boolean {
    return target.check === undefined || target.check(this);
  }

  #markExtracted(target: Slot): void {
    if (target.extractedAt === this.#serial) return;
    target.extractedAt = this.#serial;
    if (target.isRequired) this.#requiredFound += 1;
  }

  /** True when everything the query uses has been found: parsers then do not run, and have no errors. */
  hasAllRequired(): boolean {
    return this.#requiredCount > 0 && this.#requiredFound === this.#requiredCount;
  }

  /** Sets the error of the line; the last one wins. Without details, those of an earlier error remain. */
  fail(error: string, details?: string): void {
    this.error = error;
    if (details !== undefined) this.errorDetails = details;
  }

  /** Sets the error of a parser, marked if it must not fail the query. */
  failParsing(error: string, details?: string): void {
    this.fail(error, details);
    if (this.hints.preservesErrors) this.set(this.#preserved, 'true');
  }

  /**
   * The details of the error as output and templates show them. Those of an error that was removed are shown only if a label has changed as
   * well.
   */
  get shownDetails(): string {
    return this.error === '' && this.touchedCount === 0 ? '' : this.errorDetails;
  }

  /** True when the line has an error, or a label of that name. */
  get showsError(): boolean {
    return this.error !== '' || this.get(this.#error) !== undefined;
  }

  #touch(slot: Slot): void {
    if (slot.touchedAt === this.#serial) {
      if (slot.state === metadata) this.changesMetadata = true;
      return;
    }
    slot.touchedAt = this.#serial;
    this.touched[this.touchedCount] = slot;
    this.touchedCount += 1;
    if (this.base.value(slot) !== undefined) this.changesStream = true;
  }
}
