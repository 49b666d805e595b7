import { eachStep, sortSteps, type Steps } from '../../base/pace/steps.js';
import { byRank, type RankedName } from '../../wire/answer/rank.js';
import type { Browse } from '../../wire/api/request.js';
import { mostSeen, RankedTable } from './table.js';
import { emptyView, isBehind, isHidden, pageSteps, picksOf, sizeOf, type Page, type View } from './view.js';

/** Changes are kept beside the table until it is rebuilt: at most this number, or this part of the table. */
const leastRecent = 256;
const recentDivisor = 64;
/** Bytes of an entry of `recent`, in its list and in the map, without its text. */
const recentBytes = 160;
const stepItems = 1_000;

/**
 * The values of one label, hottest first. A table in order of rank holds nearly all of them. Recent changes are in a short sorted list
 * beside it, which overrides the table's entries; now and then both are merged into a new table. Readers merge the two.
 */
export class IndexedValues {
  readonly #maxEntries: number;
  #view: View = emptyView;
  /** The entries of `recent`, by value. */
  #recent: ReadonlyMap<string, RankedName> = new Map();
  #recentBytes = 0;
  /** Number of values evicted so far. */
  evicted = 0;

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  get view(): View {
    return this.#view;
  }

  get size(): number {
    return sizeOf(this.#view);
  }

  get bytes(): number {
    return this.#view.table.bytes + this.#view.hidden.byteLength + this.#recentBytes;
  }

  page(browse: Browse): Steps<Page> {
    return pageSteps(this.#view, browse);
  }

  /**
   * Counts each value as seen once more. Readers see either all of the changes or none. Steps of two calls must not interleave.
   * @param values distinct
   */
  *learnSteps(values: readonly string[], nowMs: number): Steps<void> {
    const { table, end, recent, ...before } = this.#view;
    const hidden = before.hidden.slice();
    let { shown } = before;
    const replaced = new Set<RankedName>();
    const changed: RankedName[] = [];
    yield* eachStep(values, (value) => {
      const known = this.#recent.get(value);
      const rank = known === undefined ? table.find(value) : -1;
      const isListed = rank !== -1 && rank < end && !isHidden(hidden, rank);
      if (known !== undefined) replaced.add(known);
      if (isListed) {
        hide(hidden, rank);
        shown -= 1;
      }
      const seen = known?.seen ?? (isListed ? table.seenAt(rank) : 0);
      const lastMs = known?.lastMs ?? (isListed ? table.lastMsAt(rank) : 0);
      changed.push({ value, seen: Math.min(mostSeen, seen + 1), lastMs: Math.max(lastMs, nowMs) });
    });
    const kept = recent.filter((entry) => !replaced.has(entry));
    const merged = yield* rankedSteps(kept.length === 0 ? changed : [...kept, ...changed]);
    yield* this.#takeSteps({ table, hidden, end, shown, recent: merged });
  }

  /** Starts with these values, which may be in any order. */
  *restoreSteps(entries: RankedName[]): Steps<void> {
    yield* this.#takeSteps({ ...emptyView, recent: yield* rankedSteps(entries) });
  }

  *#takeSteps(view: View): Steps<void> {
    const room = yield* this.#evictSteps(view);
    const isShort = room.recent.length <= Math.max(leastRecent, room.table.size / recentDivisor);
    this.#view = isShort ? room : yield* rebuiltSteps(room);
    this.#recent = new Map(this.#view.recent.map((entry) => [entry.value, entry]));
    this.#recentBytes = this.#view.recent.reduce((sum, { value }) => sum + recentBytes + 2 * value.length, 0);
  }

  /** Removes the coldest values above the bound. `hidden` of the view belongs to the caller and is changed. */
  *#evictSteps(view: View): Steps<View> {
    const { table, hidden } = view;
    let { end, shown } = view;
    let kept = view.recent.length;
    for (let over = sizeOf(view) - this.#maxEntries; over > 0;) {
      if (over % stepItems === 0) yield;
      const coldest = view.recent[kept - 1];
      if (end > 0 && isHidden(hidden, end - 1)) end -= 1;
      else {
        if (coldest !== undefined && (end === 0 || isBehind(coldest, table, end - 1))) kept -= 1;
        else {
          end -= 1;
          shown -= 1;
        }
        over -= 1;
        this.evicted += 1;
      }
    }
    return { table, hidden, end, shown, recent: view.recent.slice(0, kept) };
  }
}

/** The same values in a new table. */
function* rebuiltSteps(view: View): Steps<View> {
  const picks = new Int32Array(sizeOf(view));
  let count = 0;
  for (const pick of picksOf(view)) {
    if (pick !== undefined) picks[count++] = pick;
    if (count % stepItems === 0) yield;
  }
  const table = yield* RankedTable.picked(view.table, picks, view.recent);
  const hidden = new Uint8Array(Math.ceil(table.size / 8));
  for (const rank of table.repeated) hide(hidden, rank);
  return { table, hidden, end: table.size, shown: table.size - table.repeated.length, recent: [] };
}

function hide(hidden: Uint8Array, rank: number): void {
  hidden[rank >>> 3] = (hidden[rank >>> 3] ?? 0) | (1 << (rank & 7));
}

/** Sorts by rank. Listings of the backend are already in this order. */
function* rankedSteps(entries: RankedName[]): Steps<RankedName[]> {
  let [before] = entries;
  let misplaced = 0;
  yield* eachStep(entries, (entry) => {
    if (before !== undefined && byRank(before, entry) > 0) misplaced += 1;
    before = entry;
  });
  return misplaced === 0 ? entries : yield* sortSteps(entries, byRank);
}
