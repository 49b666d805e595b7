import type { LabelSet } from '../../base/labels/label-set.js';
import { readJsonText } from './json-text.js';

/** Where a label of the line at hand comes from; stream labels that no stage touched are in no slot. */
export const deleted = 0;
export const metadata = 1;
export const parsed = 2;
export type SlotState = typeof deleted | typeof metadata | typeof parsed;

/** How the text of a value is read from its place in a line. */
export const asItStands = 0;
export const jsonEscapes = 1;
export type Decoding = typeof asItStands | typeof jsonEscapes;

/** What a comparison with a label sees of the line at hand, and may change. */
export interface ComparedLine {
  /** The value of `__error__`; empty for none. */
  readonly error: string;
  get(slot: Slot): string | undefined;
  fail(error: string, details?: string): void;
}
/** A comparison with a label; false drops the line. */
export type LabelCheck = (line: ComparedLine) => boolean;

/**
 * The place of one label name, used again for line after line: stages hold slots instead of looking names up. What it says holds
 * only while `touchedAt` is the number of the line at hand. Values of parsers are kept as places in the line until they are read.
 */
export class Slot {
  readonly name: string;
  /** Whether the query can see the label, where that is known at all. */
  isRequired = false;
  /** A comparison of the query with this label, which parsers make as soon as they have its value; false drops the line. */
  check: LabelCheck | undefined = undefined;
  touchedAt = 0;
  state: SlotState = deleted;
  value: string | undefined = undefined;
  source = '';
  from = 0;
  to = 0;
  decoding: Decoding = asItStands;
  /** The number of the last line in which a parser took this label: the first value of a line stays. */
  extractedAt = 0;
  /** The labels for which `baseValue` was looked up. */
  base: BaseLabels | undefined = undefined;
  baseValue: string | undefined = undefined;
  /** The slot that takes a parsed value when this name is taken. */
  clash: Slot | undefined = undefined;

  constructor(name: string) {
    this.name = name;
  }

  /** The value that the line at hand has set. */
  text(): string {
    let { value } = this;
    if (value === undefined) {
      value =
        this.decoding === asItStands
          ? this.source.slice(this.from, this.to)
          : readJsonText(this.source, this.from, this.to);
      this.value = value;
    }
    return value;
  }
}

/** The labels of one stream, made ready once for all of its lines. */
export class BaseLabels {
  readonly set: LabelSet;
  readonly slots: readonly Slot[];
  readonly #values = new Map<string, string>();

  constructor(set: LabelSet, slotOf: (name: string) => Slot) {
    this.set = set;
    for (const [name, value] of set.labels) this.#values.set(name, value);
    this.slots = set.labels.map(([name]) => slotOf(name));
  }

  /** The value of a label by its slot, which remembers the answer. */
  value(slot: Slot): string | undefined {
    if (slot.base !== this) {
      slot.base = this;
      slot.baseValue = this.#values.get(slot.name);
    }
    return slot.baseValue;
  }
}
