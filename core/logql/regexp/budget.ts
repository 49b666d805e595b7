import type { Steps } from '../../base/pace/steps.js';
import { repeatsTooOften, patternSize } from './size.js';
import { RegExpSyntaxError } from './types.js';

/**
 * The most automaton instructions for all patterns of one query: building blocks the process for some microseconds per instruction.
 * Alternations of plain texts do not count, however long.
 */
export const maxInstructions = 6_000;

class Budget {
  readonly #known = new Set<string>();
  #left = maxInstructions;

  /** @throws RegExpSyntaxError */
  take(pattern: string): void {
    if (this.#known.has(pattern)) return;
    const size = patternSize(pattern);
    // Too many repetitions are a separate error, found before anything is built.
    const cost = size.reading + (repeatsTooOften(size) ? 0 : size.states);
    if (cost > this.#left) throw tooLarge();
    this.#left -= cost;
    this.#known.add(pattern);
  }
}

let current: Budget | undefined;

/** Makes all patterns compiled in these steps, and in no other computation's, share one budget, in which each pattern counts once. */
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
 * Call before a pattern is built or a cached one is reused.
 * @throws RegExpSyntaxError when it exceeds the query's budget
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
