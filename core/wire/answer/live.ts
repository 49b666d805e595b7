import type { LabelSet } from '../../base/label-set.js';
import type { Entry } from './parts.js';

/** One entry of a tail, with its stream after the residual stages. */
export interface LiveEntry {
  readonly labels: LabelSet;
  readonly entry: Entry;
}

export type LiveEvent =
  /** Lines in time order; `isEarly` if too many were waiting for older ones, so that some of these may still follow. */
  | { readonly kind: 'entries'; readonly entries: readonly LiveEntry[]; readonly isEarly: boolean }
  /** One poll for new lines failed; the next one catches up. */
  | { readonly kind: 'trouble'; readonly error: Error };

/** The answer to a tail: its history, and the lines that follow. It ends only when the exchange's signal aborts. */
export interface LiveAnswer {
  readonly kind: 'live';
  /** The newest entries up to the limit, oldest first. */
  readonly history: readonly LiveEntry[];
  /** Events are pulled, so a reader that stops also stops the backend. They can be read once, and reading must start immediately. */
  readonly events: AsyncIterable<LiveEvent>;
}
