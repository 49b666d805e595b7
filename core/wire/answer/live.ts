import type { LabelSet } from '../../base/labels/label-set.js';
import type { TailSource } from '../api/follow-rules.js';
import type { Entry } from './parts.js';

/** One entry of a tail with the stream that the residual stages left it in. */
export interface LiveEntry {
  readonly labels: LabelSet;
  readonly entry: Entry;
}

/** What happens while lines are followed. Lines of one event are in the order of their time. */
export type LiveEvent =
  | { readonly kind: 'entries'; readonly entries: readonly LiveEntry[] }
  /** From now on lines come from here; `cause` is why the other source was left. */
  | { readonly kind: 'source'; readonly source: TailSource; readonly cause?: Error }
  /** A look for new lines failed; the next one makes up for it. */
  | { readonly kind: 'trouble'; readonly error: Error };

/** The answer to a tail: what was there, and what comes. It has no end of its own; the exchange's signal ends it. */
export interface LiveAnswer {
  readonly kind: 'live';
  /** The newest entries up to the limit, oldest first. */
  readonly history: readonly LiveEntry[];
  /** Pulled: who stops reading stops the backend. To be read once, from the moment of the answer. */
  readonly events: AsyncIterable<LiveEvent>;
}
