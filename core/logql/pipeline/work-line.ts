import type { LabelSet } from '../../base/labels/label-set.js';
import {
  type BaseLabels,
  type SlotTable,
  verbatim,
  deleted,
  metadata,
  parsed,
  type Decoding,
  type Slot,
} from './slot.js';
import type { Hints } from './hints.js';
import type { Meter } from './meter.js';
import { errorDetailsLabel, errorLabel, preserveErrorLabel, type PipelineEntry } from './types.js';

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
