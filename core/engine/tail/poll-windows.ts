import type { LogRow } from '../../victoria/names/row-reader.js';
import type { FollowRules } from '../../wire/api/follow-rules.js';
import type { TailContext } from './context.js';

/** The usual time from a line's timestamp until the backend has it. */
const usualLagMs = 3_000;
/** Maximum time between two polls that cover the whole lookback for late lines. */
const deepEveryMs = 5_000;
const spareMs = 1_000;
/** With up to this number of lines, covering the whole lookback costs next to nothing. */
const fewLines = 500;
const nsPerMs = 1_000_000n;

export function msToNs(ms: number): bigint {
  return BigInt(Math.round(ms)) * nsPerMs;
}

/** The lookback of most polls; lines that are not later than this are sent in order. */
export function nearNs({ reorderMs }: FollowRules): bigint {
  return msToNs(usualLagMs + reorderMs);
}

/** The lookback for late lines. The lines of this time must be remembered, because they are read again. */
export function reachNs({ lookbackMs, reorderMs }: FollowRules): bigint {
  return msToNs(lookbackMs + reorderMs + deepEveryMs + spareMs);
}

/** Lines are read this long before they are shown, so that they have waited for others when they reach the age of `delay_for`. */
export function readDelayNs({ delayNs, rules }: Pick<TailContext, 'delayNs' | 'rules'>): bigint {
  const reorderNs = msToNs(rules.reorderMs);
  return delayNs > reorderNs ? delayNs - reorderNs : 0n;
}

/**
 * Polls for rows in overlapping windows. The next poll makes up for a failed one: a window starts where the last successful one ended,
 * minus the time that rows may be late.
 */
export class PollWindows {
  readonly #context: TailContext;
  /** Everything before this has been read at least once. */
  #doneNs: bigint;
  #lastDeepMs: number;

  constructor(context: TailContext, doneNs: bigint) {
    this.#context = context;
    this.#doneNs = doneNs;
    this.#lastDeepMs = context.clock.monotonicMs();
  }

  /** True if a poll with the whole lookback for late lines is due. */
  get isDeepDue(): boolean {
    return this.#context.clock.monotonicMs() - this.#lastDeepMs >= deepEveryMs;
  }

  /** Reads one window up to now, minus the delay of the tail. Rejects when the backend fails. */
  async *look(): AsyncGenerator<readonly LogRow[]> {
    const { recent, rules, clock, reads } = this.#context;
    const isDeep = this.isDeepDue || recent.size <= fewLines;
    const startedMs = clock.monotonicMs();
    const endNs = clock.nowNs() - readDelayNs(this.#context);
    const fromNs = this.#doneNs - (isDeep ? reachNs(rules) : nearNs(rules));
    const range = { startNs: fromNs > recent.floorNs ? fromNs : recent.floorNs, endNs: endNs + 1n };
    if (range.startNs >= range.endNs) return;
    yield* reads.all(range);
    if (endNs > this.#doneNs) this.#doneNs = endNs;
    if (isDeep) this.#lastDeepMs = startedMs;
    recent.forgetBefore(this.#doneNs - reachNs(rules));
  }
}
