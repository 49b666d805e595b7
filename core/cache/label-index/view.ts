import type { Steps } from '../../base/pace/steps.js';
import { byHeat, byRank, type Heat, type RankedName } from '../../wire/answer/rank.js';
import type { Browse } from '../../wire/api/request.js';
import { RankedTable } from './table.js';

/** An immutable snapshot of a label's values, so that reading may take several turns of the event loop. */
export interface View {
  readonly table: RankedTable;
  /** Bit set of the table's ranks whose value was evicted or is overridden by `recent`. */
  readonly hidden: Uint8Array;
  /** All values of the table from this rank on were evicted. */
  readonly end: number;
  /** Number of the table's values that are neither hidden nor at or after `end`. */
  readonly shown: number;
  /** Changes since the table was built, in order of rank. */
  readonly recent: readonly RankedName[];
}

export interface Page {
  readonly values: readonly string[];
  /** Heat of each value. */
  readonly heat: readonly Heat[];
}

export const emptyView: View = {
  table: RankedTable.empty,
  hidden: new Uint8Array(0),
  end: 0,
  shown: 0,
  recent: [],
};

/** Ranks searched in one step. */
const searchedRanks = 16_384;
const stepItems = 1_000;

export function sizeOf({ shown, recent }: View): number {
  return shown + recent.length;
}

export function isHidden(hidden: Uint8Array, rank: number): boolean {
  return ((hidden[rank >>> 3] ?? 0) & (1 << (rank & 7))) !== 0;
}

/** A page of the values that contain the text, ignoring case, hottest first. */
export function* pageSteps(view: View, { limit = Infinity, offset = 0, search = '' }: Browse): Steps<Page> {
  const values: string[] = [];
  const heat: Heat[] = [];
  let passed = 0;
  if (limit === 0) return { values, heat };
  for (const pick of picksOf(view, search.toLowerCase())) {
    if (pick === undefined) {
      yield;
      continue;
    }
    passed += 1;
    if (passed % stepItems === 0) yield;
    if (passed <= offset) continue;
    const { value, seen, lastMs } = entryAt(view, pick);
    values.push(value);
    heat.push({ seen, lastMs });
    if (values.length >= limit) break;
  }
  return { values, heat };
}

/**
 * All values that contain a lower-case text, hottest first: ranks of the table, and complements of indexes into `recent`. Yields undefined
 * where other work may run.
 */
export function* picksOf(view: View, search = ''): Generator<number | undefined, void, void> {
  const { table, recent } = view;
  const ranks = search === '' ? shownRanks(view) : foundRanks(view, search);
  let place = 0;
  for (const rank of ranks) {
    if (rank === undefined) {
      yield undefined;
      continue;
    }
    for (; place < recent.length; place += 1) {
      const entry = recent[place];
      if (entry === undefined || isBehind(entry, table, rank)) break;
      if (entry.value.toLowerCase().includes(search)) yield ~place;
    }
    yield rank;
  }
  for (; place < recent.length; place += 1)
    if (recent[place]?.value.toLowerCase().includes(search) === true) yield ~place;
}

export function entryAt({ table, recent }: View, pick: number): RankedName {
  const entry = pick < 0 ? recent[~pick] : undefined;
  return entry ?? { value: table.valueAt(pick), seen: table.seenAt(pick), lastMs: table.lastMsAt(pick) };
}

/** Tells whether an entry ranks after one of the table. The table's text is only read for equal heat. */
export function isBehind(entry: RankedName, table: RankedTable, rank: number): boolean {
  const heat = { seen: table.seenAt(rank), lastMs: table.lastMsAt(rank) };
  const order = byHeat(entry, heat);
  return order === 0 ? byRank(entry, { ...heat, value: table.valueAt(rank) }) > 0 : order > 0;
}

type Ranks = Generator<number | undefined, void, void>;

function* shownRanks({ hidden, end }: View): Ranks {
  for (let rank = 0; rank < end; rank += 1) {
    if (!isHidden(hidden, rank)) yield rank;
    else if (rank % stepItems === 0) yield undefined;
  }
}

function* foundRanks({ table, hidden, end }: View, search: string): Ranks {
  const needle = Buffer.from(search);
  for (let from = 0; from < end; from += searchedRanks) {
    const to = Math.min(end, from + searchedRanks);
    for (let next = from; next < to; next += 1) {
      next = table.search(needle, next, to);
      if (next === -1) break;
      if (!isHidden(hidden, next)) yield next;
    }
    yield undefined;
  }
}
