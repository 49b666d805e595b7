import type { Label, LabelSet } from '../../base/labels/label-set.js';
import { LabelSetPool, type PoolUse } from './label-set-pool.js';
import { SlotSorter } from './slot-sorter.js';
import type { SlotTable } from './slot-table.js';
import { metadata, parsed, type Slot, type SlotState } from './slot.js';
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
