import { LabelSet, type Label } from '../../base/labels/label-set.js';
import { keptLabelsBytes } from '../../base/memory/sizes.js';
import type { Grouping } from '../ast.js';
import { ownText } from './own-text.js';
import type { Output } from './output.js';
import type { SlotTable } from './slot-table.js';
import type { Slot } from './slot.js';
import type { WorkLine } from './work-line.js';

/** Computes the labels of the series that the current line belongs to. */
export type SeriesLabels = (work: WorkLine) => LabelSet;

const maxKept = 50_000;
/** Bytes of a kept label in addition to its value, with its tree node. */
const keptBytes = 240;

/** The labels for a grouping; all labels without one. */
export function compileSeriesLabels(
  grouping: Pick<Grouping, 'without' | 'labels'> | undefined,
  slots: SlotTable,
  output: Output,
): SeriesLabels {
  if (grouping === undefined) return (work) => output.all(work);
  const { without, labels } = grouping;
  if (without) {
    const left = new Set(labels.map((name) => slots.pin(name)));
    return (work) => output.all(work, left);
  }
  if (labels.length === 0) return () => LabelSet.empty;
  const sorted = [...new Set(labels)].sort((a, b) => (a < b ? -1 : 1));
  const series = new SeriesTree(sorted.map((name) => slots.pin(name)));
  return (work) => series.of(work);
}

function own(value: string | undefined): string | undefined {
  return value === undefined ? undefined : ownText(value);
}

type Branch = Map<string | undefined, Branch | LabelSet>;

/** Keeps the sets of a `by` grouping in a tree of values: a known series is found without building a key. */
class SeriesTree {
  readonly #slots: readonly Slot[];
  #root: Branch = new Map();
  #kept = 0;
  #bytes = 0;

  constructor(slots: readonly Slot[]) {
    this.#slots = slots;
  }

  of(work: WorkLine): LabelSet {
    let branch = this.#root;
    const last = this.#slots.length - 1;
    for (const [index, slot] of this.#slots.entries()) {
      const value = work.grouped(slot);
      const found = branch.get(value);
      if (index === last) return found instanceof LabelSet ? found : this.#add(work, branch, value);
      if (found instanceof Map) {
        branch = found;
      } else {
        const made: Branch = new Map();
        branch.set(own(value), made);
        branch = made;
      }
    }
    return LabelSet.empty;
  }

  #add(work: WorkLine, branch: Branch, value: string | undefined): LabelSet {
    const labels: Label[] = [];
    for (const slot of this.#slots) {
      const text = work.grouped(slot);
      if (text !== undefined) labels.push([slot.name, ownText(text)]);
    }
    const set = LabelSet.fromSorted(labels);
    branch.set(own(value), set);
    this.#kept += 1;
    for (const [name, text] of labels) this.#bytes += keptBytes + name.length + 2 * text.length;
    if (this.#kept > maxKept || this.#bytes > keptLabelsBytes) {
      this.#root = new Map();
      this.#kept = 0;
      this.#bytes = 0;
    }
    return set;
  }
}
