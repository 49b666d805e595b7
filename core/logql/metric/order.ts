/** Orders numbers from the least on; NaN comes last. */
export function ascending(a: number, b: number): number {
  if (a < b) return -1;
  if (a > b) return 1;
  return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
}

/** Orders numbers from the greatest on; NaN comes last all the same. */
export function descending(a: number, b: number): number {
  if (a > b) return -1;
  if (a < b) return 1;
  return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
}
