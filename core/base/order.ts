import type { TimeRange } from './time/range.js';

/** Compares texts by code units, for sort(). */
export function textOrder(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Compares times, for sort(). */
export function timeOrder(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** True if a range lies in another one. */
export function isWithin(inner: TimeRange, outer: TimeRange): boolean {
  return outer.startNs <= inner.startNs && inner.endNs <= outer.endNs;
}

/** The part of a range that lies in another one; it ends before it starts if there is none. */
export function clipped({ startNs, endNs }: TimeRange, within: TimeRange): TimeRange {
  return {
    startNs: startNs < within.startNs ? within.startNs : startNs,
    endNs: endNs > within.endNs ? within.endNs : endNs,
  };
}

/** The keys of a table, which `Object.keys` types as any text. */
export function keysOfTable<Key extends string>(table: Readonly<Record<Key, unknown>>): readonly Key[] {
  return Object.keys(table) as Key[];
}

/** Adds up the members that `zero` has; members of the items that it does not have are left out. */
export function summed<Counts extends Readonly<Record<keyof Counts, number>>>(
  zero: Counts,
  all: readonly Counts[],
): Counts {
  const names = Object.keys(zero) as (keyof Counts)[];
  const sums = names.map((name) => [name, all.reduce<number>((sum, one) => sum + one[name], zero[name])]);
  return Object.fromEntries(sums) as Counts;
}

/** The shortest range that contains both. */
export function rangeOfBoth(one: TimeRange, other: TimeRange): TimeRange {
  return {
    startNs: one.startNs < other.startNs ? one.startNs : other.startNs,
    endNs: one.endNs > other.endNs ? one.endNs : other.endNs,
  };
}

/** Adds an item to the list of a key. */
export function addTo<Key, Item>(lists: Map<Key, Item[]>, key: Key, item: Item): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}
