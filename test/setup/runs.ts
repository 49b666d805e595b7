/**
 * Sample counts of slow tests. `npm test` takes a fixed sample that contains every kind. `npm run test:deep`, which sets `TEST_DEEP=1` and
 * is
 * part of `.ci/run full`, takes a larger one: it runs the files that import this one, and the slow suites (`rooms.ts`). `TEST_RUNS=20`
 * multiplies both by twenty.
 */
import { runs, spread, timesAsOften } from './samples.js';

export const isDeep = process.env['TEST_DEEP'] === '1';

/** The number of random data sets for a slow property test: `usual` in `npm test`, `deep` in a deep run. */
export function deepRuns(usual: number, deep: number): number {
  return runs(isDeep ? deep : usual);
}

/** The n of a test that takes one of n items: `usual` in `npm test`, `deep` in a deep run. */
export function oneOf(usual: number, deep: number): number {
  return Math.max(1, Math.floor((isDeep ? deep : usual) / timesAsOften()));
}

/** A sample of a list, as from `spread`: one of `usual` items, one of `deep` in a deep run. */
export function spreadSample<Item>(
  items: readonly Item[],
  usual: number,
  deep = 1,
  turn = 0,
): readonly Item[] {
  return spread(items, isDeep ? deep : usual, turn);
}
