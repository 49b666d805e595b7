/** The number of random data sets for a property test; `TEST_RUNS=20` multiplies it by twenty. */
export function runs(usual: number): number {
  return Math.ceil(usual * timesAsOften());
}

/** Every `oneOf`-th item, spread evenly over a list that is ordered by kind. Samples with different `turn` have different items. */
export function spread<Item>(items: readonly Item[], oneOf: number, turn = 0): readonly Item[] {
  const share = Math.max(1, Math.floor(oneOf / timesAsOften()));
  return items.filter((_, index) => index % share === turn % share);
}

/** The factor of all sample counts, from `TEST_RUNS`. */
export function timesAsOften(): number {
  const times = Number(process.env['TEST_RUNS'] ?? 1);
  if (!(times > 0)) throw new Error(`TEST_RUNS is no positive number: ${process.env['TEST_RUNS'] ?? ''}`);
  return times;
}
