import { type Label, LabelSet } from '../../base/labels/label-set.js';
import { keptLabelsBytes } from '../../base/memory/sizes.js';
import { ownText, type SlotTable, metadata, parsed, type Slot, type SlotState } from './slot.js';
import { errorDetailsLabel, errorLabel, type PipelineEntry, type PipelineLine } from './types.js';
import type { WorkLine } from './work-line.js';

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
