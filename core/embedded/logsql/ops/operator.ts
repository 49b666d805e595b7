import { MemoryBudgetError } from '../../../victoria/logsql/errors.js';
import type { RowView } from '../row.js';

/** Takes rows one by one. `push` returns false when no further row can change the result; `finish` ends the input, once. */
export interface Operator {
  push(row: RowView): boolean;
  finish(): void;
}

/** What pipes depend on besides their rows. */
export interface PipeContext {
  /** The evaluation instant, Unix nanoseconds; the clock when it is missing. */
  readonly nowNs?: bigint | undefined;
  /** Length of the selected time range, by which `rate()` divides; it does not divide when the range is open. */
  readonly rangeNs?: bigint | undefined;
  /** Bytes that one pipe may hold. */
  readonly memoryLimitBytes?: number | undefined;
}

const defaultLimit = 256 * 1024 * 1024;

/** Counts the bytes a pipe holds, roughly, and refuses to go beyond the limit. */
export class Budget {
  readonly #pipe: () => string;
  readonly #limit: number;
  #used = 0;

  /** `pipe` gives the printed pipe for the message. */
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

/** Bytes of a kept row beyond its texts, roughly. */
export const rowOverhead = 160;

/** Bytes that a text takes, roughly. */
export function textSize(text: string): number {
  return 24 + 2 * text.length;
}

/** An operator that changes each row by itself or drops it. */
export class MapOperator implements Operator {
  readonly #change: (row: RowView) => RowView | undefined;
  readonly #next: Operator;

  constructor(change: (row: RowView) => RowView | undefined, next: Operator) {
    this.#change = change;
    this.#next = next;
  }

  push(row: RowView): boolean {
    const changed = this.#change(row);
    return changed === undefined || this.#next.push(changed);
  }

  finish(): void {
    this.#next.finish();
  }
}

/** Hands rows on until the next operator wants no more, then ends it. */
export function emitAll(rows: Iterable<RowView>, next: Operator): void {
  for (const row of rows) if (!next.push(row)) break;
  next.finish();
}
