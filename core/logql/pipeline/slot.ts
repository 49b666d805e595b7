import type { BaseLabels } from './base-labels.js';
import { readJsonText } from './json-text.js';
import type { RunStage } from './types.js';

/** Where a label of the line at hand comes from; stream labels that no stage touched are in no slot. */
export const deleted = 0;
export const metadata = 1;
export const parsed = 2;
export type SlotState = typeof deleted | typeof metadata | typeof parsed;

/** How the text of a value is read from its place in a line. */
export const asItStands = 0;
export const jsonEscapes = 1;
export type Decoding = typeof asItStands | typeof jsonEscapes;

/**
 * The place of one label name, used again for line after line: stages hold slots instead of looking names up. What it says holds
 * only while `touchedAt` is the number of the line at hand. Values of parsers are kept as places in the line until they are read.
 */
export class Slot {
  readonly name: string;
  /** Whether the query can see the label, where that is known at all. */
  isRequired = false;
  /** A comparison of the query with this label, which parsers make as soon as they have its value; false drops the line. */
  check: RunStage | undefined = undefined;
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
