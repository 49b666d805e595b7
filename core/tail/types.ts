import type { Entry } from '../answer/types.js';
import type { LabelSet } from '../labels/label-set.js';

/** Where new lines come from: the backend's own tail, polling, or the first with the second to fall back to. */
export type TailMode = 'auto' | 'native' | 'synthetic';
export type TailSource = Exclude<TailMode, 'auto'>;

/** How new lines are followed; the operator's choice, carried by the request to the stage that follows them. */
export interface FollowRules {
  readonly mode: TailMode;
  /** Milliseconds between two looks for new lines. */
  readonly refreshMs: number;
  /** How far behind their time lines may arrive and still be shown. */
  readonly lookbackMs: number;
  /** Lines remembered to show none twice; at high rates it narrows the look back. */
  readonly maxRemembered: number;
  /** Milliseconds that the backend has to begin its own tail. */
  readonly openTimeoutMs: number;
}

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
