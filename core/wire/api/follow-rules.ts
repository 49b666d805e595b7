/** Where new lines come from: `native` is the backend's own tail, `synthetic` is polling, `auto` falls back from native to polling. */
export type TailMode = 'auto' | 'native' | 'synthetic';
export type TailSource = Exclude<TailMode, 'auto'>;

/** How a tail follows new lines: set by the operator, carried by the request to the stage that follows them. */
export interface FollowRules {
  readonly mode: TailMode;
  /** Milliseconds between two polls for new lines. */
  readonly refreshMs: number;
  /** How late lines may arrive and still be shown. */
  readonly lookbackMs: number;
  /** Lines remembered so that none is shown twice; at high rates this shortens the lookback. */
  readonly maxRemembered: number;
  /** Milliseconds that the backend has to open its own tail. */
  readonly openTimeoutMs: number;
}
