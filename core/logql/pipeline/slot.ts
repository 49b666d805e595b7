import type { LabelSet } from '../../base/labels/label-set.js';
import { readJsonText } from './json-text.js';

/** Where a label of the current line comes from; stream labels that no stage has touched have no slot. */
export const deleted = 0;
export const metadata = 1;
export const parsed = 2;
export type SlotState = typeof deleted | typeof metadata | typeof parsed;

/** How a value is decoded from its part of a line. */
export const verbatim = 0;
export const jsonEscapes = 1;
export type Decoding = typeof verbatim | typeof jsonEscapes;

/** What a label comparison reads and may change of the current line. */
export interface ComparedLine {
  /** The value of `__error__`, or an empty text. */
  readonly error: string;
  get(slot: Slot): string | undefined;
  fail(error: string, details?: string): void;
}
/** A label comparison; false drops the line. */
export type LabelCheck = (line: ComparedLine) => boolean;

/**
 * The state of one label name, reused for line after line: stages hold slots instead of looking names up. It is only valid while
 * `touchedAt` equals the number of the current line. Parsed values are kept as offsets into the line until they are read.
 */
export class Slot {
  readonly name: string;
  /** Whether the query is known to use the label. */
  isRequired = false;
  /** A comparison of the query with this label, which parsers make as soon as they have its value; false drops the line. */
  check: LabelCheck | undefined = undefined;
  touchedAt = 0;
  state: SlotState = deleted;
  value: string | undefined = undefined;
  source = '';
  from = 0;
  to = 0;
  decoding: Decoding = verbatim;
  /** The number of the last line in which a stage set this label. */
  extractedAt = 0;
  /** The number of the last line in which a stage deleted this label. */
  deletedAt = 0;
  /** The labels for which `baseValue` was looked up. */
  base: BaseLabels | undefined = undefined;
  baseValue: string | undefined = undefined;
  /** The slot for a parsed value when this name is already in use. */
  clash: Slot | undefined = undefined;

  constructor(name: string) {
    this.name = name;
  }

  /** The value that the current line has set. */
  text(): string {
    let { value } = this;
    if (value === undefined) {
      value =
        this.decoding === verbatim
          ? this.source.slice(this.from, this.to)
          : readJsonText(this.source, this.from, this.to);
      this.value = value;
    }
    return value;
  }
}

/** The labels of one stream, prepared once for all of its lines. */
export class BaseLabels {
  readonly set: LabelSet;
  readonly slots: readonly Slot[];
  readonly #values = new Map<string, string>();

  constructor(set: LabelSet, slotOf: (name: string) => Slot) {
    this.set = set;
    for (const [name, value] of set.labels) this.#values.set(name, value);
    this.slots = set.labels.map(([name]) => slotOf(name));
  }

  /** The value of a label; the slot caches it. */
  value(slot: Slot): string | undefined {
    if (slot.base !== this) {
      slot.base = this;
      slot.baseValue = this.#values.get(slot.name);
    }
    return slot.baseValue;
  }
}
