/**
 * How much of what takes long is tried: each run of the tests has a part of it, always the same, with every kind in it. With `TEST_DEEP=1`,
 * which `npm run test:deep` sets, all of it is.
 */
export const isDeep = process.env['TEST_DEEP'] === '1';

/**
 * How often a law that takes long is tried with other data: so often in each run of the tests, as often as `deep` says in a deep one, and
 * `TEST_RUNS` times as often where somebody has the time.
 */
export function runs(usual: number, deep = usual): number {
  const times = Number(process.env['TEST_RUNS'] ?? 1);
  if (!(times > 0)) throw new Error(`TEST_RUNS is no positive number: ${process.env['TEST_RUNS'] ?? ''}`);
  return Math.ceil((isDeep ? deep : usual) * times);
}

/**
 * One of so many items, spread evenly over a list; in a deep run one of `deep`. Lists go from kind to kind, so that each kind has its share.
 * Samples of different `turn` have different items.
 */
export function spreadSample<Item>(
  items: readonly Item[],
  usual: number,
  deep = 1,
  turn = 0,
): readonly Item[] {
  const oneOf = isDeep ? deep : usual;
  return items.filter((_, index) => index % oneOf === turn % oneOf);
}
