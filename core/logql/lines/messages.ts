import type { LineWork, SentEntry } from './work.js';

/** One line for a worker. */
export interface Asked {
  /** Names the work. */
  readonly key: number;
  /** What it is, when this worker does not know it yet. */
  readonly work: LineWork | undefined;
  /** Lets go of all work known so far. */
  readonly forgets: boolean;
  readonly entry: SentEntry;
}

/** What a worker made of it; an `id` is a line of the error table. */
export type Answered =
  | { readonly result: unknown }
  | { readonly fault: { readonly id: string | undefined; readonly text: string } };
