import type { Steps } from '../../base/pace/steps.js';
import { repeatsTooOften, sizeOf } from './size.js';
import { RegExpSyntaxError } from './types.js';

/**
 * Instructions of all patterns of one query: the process waits while they are built, and each takes some microseconds. A choice of
 * plain texts is no pattern here, however long it is.
 */
export const maxInstructions = 6_000;

class Budget {
  readonly #known = new Set<string>();
  #left = maxInstructions;

  /** @throws RegExpSyntaxError */
  take(pattern: string): void {
    if (this.#known.has(pattern)) return;
    const size = sizeOf(pattern);
    // Too many repetitions are an error of their own, which is found before anything is built.
    const cost = size.reading + (repeatsTooOften(size) ? 0 : size.states);
    if (cost > this.#left) throw tooLarge();
    this.#left -= cost;
    this.#known.add(pattern);
  }
}

let current: Budget | undefined;

/** Lets all patterns that are compiled in these steps, and in no other computation's, share one budget, each counted once. */
export function* sharingBudget<Result>(steps: Steps<Result>): Steps<Result> {
  const budget = new Budget();
  for (;;) {
    const outer = current;
    current ??= budget;
    let step: IteratorResult<void, Result>;
    try {
      step = steps.next();
    } finally {
      current = outer;
    }
    if (step.done === true) return step.value;
    yield;
  }
}

/**
 * To be called before a pattern is built, and where one that was built is used again.
 * @throws RegExpSyntaxError where that is too much for this query
 */
export function takeFromBudget(pattern: string, isBuilt = false): void {
  if (current !== undefined) current.take(pattern);
  else if (!isBuilt) new Budget().take(pattern);
}

function tooLarge(): RegExpSyntaxError {
  return new RegExpSyntaxError(
    `error parsing regexp: expression too large: the patterns of a query may have about ${String(maxInstructions)} instructions in all`,
  );
}
