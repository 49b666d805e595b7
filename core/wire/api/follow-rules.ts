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
