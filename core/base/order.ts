/** Compares texts by code units, for sort(). */
export function textOrder(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Compares times, for sort(). */
export function timeOrder(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
