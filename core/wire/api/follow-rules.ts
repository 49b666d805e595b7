/** Source of new lines: `native` adds the backend's own tail to polling; `auto` is `synthetic`, which only polls. */
export type TailMode = 'auto' | 'native' | 'synthetic';

/** Rules by which a tail follows new lines, set by the operator and carried by the request to the stage that follows them. */
export interface FollowRules {
  readonly mode: TailMode;
  /** Milliseconds between two polls for new lines. */
  readonly refreshMs: number;
  /** Milliseconds for which a line waits, after it was found, for older lines of its stream; 0 sends it at once. */
  readonly reorderMs: number;
  /** Maximum delay of lines that are still shown, in milliseconds. */
  readonly lookbackMs: number;
  /** Number of lines remembered so that none is shown twice; at high rates this shortens the lookback. */
  readonly maxRemembered: number;
  /** Timeout in milliseconds for the backend to open its own tail. */
  readonly openTimeoutMs: number;
}
