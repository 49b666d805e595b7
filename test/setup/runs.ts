/**
 * How much of what takes long is tried. `npm test` tries a part, always the same, with every kind in it. `npm run test:deep`, which sets
 * `TEST_DEEP=1` and which `.ci/run` runs next, tries more; it runs the files that import this one, and the suites that `npm test` leaves to
 * it (`rooms.ts`). `TEST_RUNS=20` makes it twenty times as much, in either.
 */
import { runs, spread, timesAsOften } from './samples.js';

export const isDeep = process.env['TEST_DEEP'] === '1';

/** How often a law that takes long is tried with other data: so often in `npm test`, as often as `deep` says in a deep run. */
export function deepRuns(usual: number, deep: number): number {
  return runs(isDeep ? deep : usual);
}

/** Of how many items one is tried: of so many in `npm test`, of `deep` in a deep run. */
export function oneOf(usual: number, deep: number): number {
  return Math.max(1, Math.floor((isDeep ? deep : usual) / timesAsOften()));
}

/** A sample of a list as `spread` takes it: one of so many items, in a deep run one of `deep`. */
export function spreadSample<Item>(
  items: readonly Item[],
  usual: number,
  deep = 1,
  turn = 0,
): readonly Item[] {
  return spread(items, isDeep ? deep : usual, turn);
}
