/** Appends in place to a list that only its rule holds; copying each time would take quadratic time. */
export function append<T>(list: T[], ...items: readonly T[]): T[] {
  list.push(...items);
  return list;
}
