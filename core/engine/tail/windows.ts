import type { LogRow } from '../../victoria/names/row-reader.js';
import type { FollowRules } from '../../wire/api/follow-rules.js';
import type { TailContext } from './context.js';

/** The usual time from a line's own time until it can be found; most polls look back no further. */
export const usualLatenessMs = 4_000;
/** The longest time between two polls that look back as far as late lines are shown. */
const deepEveryMs = 5_000;
/** The time that a late line needs to become visible once it has arrived. */
const visibleMs = 2_000;
/** With so few lines, looking back as far as late lines are shown costs next to nothing. */
const fewLines = 500;
const nsPerMs = 1_000_000n;

/** Milliseconds as nanoseconds. */
export function msToNs(ms: number): bigint {
  return BigInt(Math.round(ms)) * nsPerMs;
}

/** How far back the lines of a tail must be remembered, because they may be read again. */
export function reachNs({ lookbackMs }: FollowRules): bigint {
  return msToNs(lookbackMs + visibleMs + deepEveryMs);
}

/** Lines are read this long before they are shown, so that they have waited for others when they reach the age of `delay_for`. */
export function readDelayNs({ delayNs, rules }: Pick<TailContext, 'delayNs' | 'rules'>): bigint {
  const reorderNs = msToNs(rules.reorderMs);
  return delayNs > reorderNs ? delayNs - reorderNs : 0n;
}

/**
 * Polls for rows in overlapping windows. The next poll makes up for a failed one, because a window starts where the last successful one
 * ended, minus the time that rows may be late.
 */
export class Windows {
  readonly #context: TailContext;
  /** Everything before this has been read at least once. */
  #doneNs: bigint;
  #lastDeepMs: number;

  constructor(context: TailContext, doneNs: bigint) {
    this.#context = context;
    this.#doneNs = doneNs;
    this.#lastDeepMs = context.clock.monotonicMs();
  }

  /** Whether it is time to look back as far as late lines are shown. */
  get isDeepDue(): boolean {
    return this.#context.clock.monotonicMs() - this.#lastDeepMs >= deepEveryMs;
  }

  /** Reads one window up to now, minus the delay of the tail. Rejects when the backend fails. */
  async *look(): AsyncGenerator<readonly LogRow[]> {
    const { recent, rules, clock, reads } = this.#context;
    const isDeep = this.isDeepDue || recent.size <= fewLines;
    const startedMs = clock.monotonicMs();
    const endNs = clock.nowNs() - readDelayNs(this.#context);
    const fromNs = this.#doneNs - (isDeep ? reachNs(rules) : msToNs(usualLatenessMs));
    const range = { startNs: fromNs > recent.floorNs ? fromNs : recent.floorNs, endNs: endNs + 1n };
    if (range.startNs >= range.endNs) return;
    yield* reads.all(range);
    if (endNs > this.#doneNs) this.#doneNs = endNs;
    if (isDeep) this.#lastDeepMs = startedMs;
    recent.forgetBefore(this.#doneNs - reachNs(rules));
  }
}
