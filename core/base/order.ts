/** Compares texts by code units, for sort(). */
export function textOrder(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Compares times, for sort(). */
export function timeOrder(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
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

/** Adds an item to the list of a key. */
export function addTo<Key, Item>(lists: Map<Key, Item[]>, key: Key, item: Item): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}
