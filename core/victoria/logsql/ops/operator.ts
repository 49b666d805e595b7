import { MemoryBudgetError } from '../errors.js';
import type { FilterContext } from '../eval/filter.js';
import type { RowView } from '../row.js';

/** Receives rows one by one. `push` returns false when no further row can change the result; `finish` ends the input, once. */
export interface Operator {
  push(row: RowView): boolean;
  finish(): void;
}

/** Inputs of pipes besides their rows. */
export interface PipeContext extends FilterContext {
  /** Maximum number of bytes that one pipe may hold. */
  readonly memoryLimitBytes?: number | undefined;
}

const defaultLimit = 256 * 1024 * 1024;

/** The limit of a pipe or a function as a number of rows or values: none, or zero, means no limit. */
export function limitOf(limit: number | undefined): number {
  return limit === undefined || limit === 0 ? Infinity : limit;
}

/** Counts the approximate bytes that a pipe holds, and enforces the limit. */
export class PipeBudget {
  readonly #pipe: () => string;
  readonly #limit: number;
  #used = 0;

  /** @param pipe returns the printed pipe for the error message */
  constructor(pipe: () => string, context: PipeContext) {
    this.#pipe = pipe;
    this.#limit = context.memoryLimitBytes ?? defaultLimit;
  }

  /** @throws MemoryBudgetError when the limit is exceeded */
  add(bytes: number): void {
    this.#used += bytes;
    if (this.#used > this.#limit) throw new MemoryBudgetError(this.#pipe(), this.#limit);
  }

  release(bytes: number): void {
    this.#used -= bytes;
  }
}

/** Approximate bytes of a kept row in addition to its texts. */
export const rowOverhead = 160;

/** Approximate bytes of a text. */
export function textSize(text: string): number {
  return 24 + 2 * text.length;
}

/** An operator that maps each row separately, or drops it. */
export function mapRows(change: (row: RowView) => RowView | undefined, next: Operator): Operator {
  return {
    push(row) {
      const changed = change(row);
      return changed === undefined || next.push(changed);
    },
    finish: () => next.finish(),
  };
}

/** Passes rows on until the next operator needs no more, then finishes it. */
export function emitAll(rows: Iterable<RowView>, next: Operator): void {
  for (const row of rows) if (!next.push(row)) break;
  next.finish();
}
