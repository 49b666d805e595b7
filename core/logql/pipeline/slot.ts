import { readJsonText } from './json-value.js';
import type { LabelSet } from '../../base/label-set.js';
import { clashSuffix } from './types.js';
import { trimSpace } from '../template/library/characters.js';

/** Sources of a label of the current line; stream labels that no stage has touched have no slot. */
export const deleted = 0;
export const metadata = 1;
export const parsed = 2;
export type SlotState = typeof deleted | typeof metadata | typeof parsed;

/** Ways of decoding a value from its part of a line. */
export const verbatim = 0;
export const jsonEscapes = 1;
export type Decoding = typeof verbatim | typeof jsonEscapes;

/** The properties of the current line that a label comparison reads and may change. */
interface ComparedLine {
  /** The value of `__error__`, or an empty text. */
  readonly error: string;
  get(slot: Slot): string | undefined;
  fail(error: string, details?: string): void;
}
/** A label comparison; false drops the line. */
export type LabelCheck = (line: ComparedLine) => boolean;

/**
 * The state of one label name, reused for every line: stages hold slots instead of looking names up. It is only valid while `touchedAt`
 * equals the number of the current line. Parsed values are kept as offsets into the line until they are read.
 */
export class Slot {
  readonly name: string;
  /** True when the query is known to use the label. */
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

/** Names come from untrusted lines: with more than this many the table starts over. */
const maxSlots = 8192;
const maxBases = 4096;

/** All label names that one compiled query has encountered, each with its slot. */
export class SlotTable {
  readonly #pinned = new Map<string, Slot>();
  #slots = new Map<string, Slot>();
  #bases = new Map<LabelSet, BaseLabels>();
  #lastBase: BaseLabels | undefined;
  #generation = 0;

  /** Changes when unpinned slots are dropped: their holders must drop them too. */
  get generation(): number {
    return this.#generation;
  }

  /** The slot of a name that the query itself uses; it is kept for the query's lifetime. */
  pin(name: string): Slot {
    const slot = this.slot(name);
    this.#pinned.set(name, slot);
    return slot;
  }

  slot(name: string): Slot {
    let slot = this.#slots.get(name);
    if (slot === undefined) this.#slots.set(name, (slot = new Slot(name)));
    return slot;
  }

  /** The slot of a name, only if a line or the query has used it. */
  known(name: string): Slot | undefined {
    return this.#slots.get(name);
  }

  clashOf(slot: Slot): Slot {
    slot.clash ??= this.slot(slot.name + clashSuffix);
    return slot.clash;
  }

  base(stream: LabelSet): BaseLabels {
    const last = this.#lastBase;
    if (last?.set === stream) return last;
    let base = this.#bases.get(stream);
    if (base === undefined) {
      if (this.#bases.size >= maxBases) this.#bases.clear();
      this.#bases.set(stream, (base = new BaseLabels(stream, (name) => this.slot(name))));
    }
    return (this.#lastBase = base);
  }

  /** Drops the slots of names from lines when there are too many; only between lines. */
  trim(): void {
    if (this.#slots.size <= maxSlots) return;
    this.#slots = new Map(this.#pinned);
    for (const slot of this.#slots.values()) {
      slot.base = undefined;
      slot.clash = undefined;
    }
    this.#bases = new Map();
    this.#lastBase = undefined;
    this.#generation += 1;
  }
}

const shortestSlice = 13;

/** Copies a text. In V8 a slice keeps its whole line alive, so text that is kept longer than its line must be copied. */
export function ownText(text: string): string {
  return text.length < shortestSlice ? text : `\u0000${text}`.slice(1);
}

const plain = /^[A-Za-z_][A-Za-z0-9_]*$/;
const other = /[^A-Za-z0-9_]/gu;

/** Converts a key to a label name: other characters become `_`, and a leading digit is prefixed by `_`. Empty for a blank key. */
export function labelName(key: string): string {
  if (plain.test(key)) return key;
  const name = trimSpace(key).replace(other, '_');
  return /^[0-9]/.test(name) ? `_${name}` : name;
}

/** The name for a key inside an object whose keys so far have given `prefix`; blank keys add nothing to it. */
export function nestedLabelName(prefix: string, key: string): string {
  if (prefix === '') return labelName(key);
  const inner = trimSpace(key);
  return inner === '' ? prefix : `${prefix}_${inner.replace(other, '_')}`;
}

export const hashSeed = 0x811c9dc5 | 0;
const hashPrime = 0x01000193;

/** Adds one UTF-16 unit to a hash that started with `hashSeed`. */
export function addToHash(hash: number, unit: number): number {
  return Math.imul(hash ^ unit, hashPrime);
}
