/** Adds to a list that its rule alone holds; a copy each time would make long lists cost their square. */
export function append<T>(list: T[], ...items: readonly T[]): T[] {
  list.push(...items);
  return list;
}
