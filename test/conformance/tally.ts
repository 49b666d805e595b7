import type { Outcome } from './replay.js';

/** Prints the number of equal answers, grouped by a part of the request. */
export function printTally(outcomes: readonly Outcome[], keyOf: (outcome: Outcome) => string): void {
  const counts = new Map<string, { equal: number; all: number }>();
  for (const outcome of outcomes) {
    const count = counts.get(keyOf(outcome)) ?? { equal: 0, all: 0 };
    counts.set(keyOf(outcome), count);
    count.all += 1;
    if (outcome.difference === undefined) count.equal += 1;
  }
  for (const [key, { equal, all }] of counts) console.log(`${key.padEnd(24)} ${equal}/${all}`);
}
