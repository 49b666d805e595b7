import type { Upstream } from '../../../victoria/upstream/types.js';

/** A backend that is asked before it is known whether the question is right. */
export interface EarlyUpstream {
  readonly upstream: Upstream;
  /** Lets its answers be seen. */
  confirm(): void;
  /** Ends its calls; they fail. */
  giveUp(): void;
}

/** Nobody sees an answer before the question is confirmed. Undefined where calls cannot be given up one by one. */
export function earlyUpstream(upstream: Upstream): EarlyUpstream | undefined {
  const stop = new AbortController();
  const bound = upstream.until?.(stop.signal);
  if (bound === undefined) return undefined;
  let confirm: () => void = () => undefined;
  const settled = new Promise<void>((resolve) => (confirm = resolve));
  const confirmed = async (): Promise<void> => {
    await settled;
    stop.signal.throwIfAborted();
  };
  return {
    upstream: heldBack(bound, confirmed),
    confirm,
    giveUp: () => {
      stop.abort(new Error('given up: another question turned out to be right'));
      confirm();
    },
  };
}

/** Calls begin at once; what is answered is seen when it is confirmed. */
function heldBack(upstream: Upstream, confirmed: () => Promise<void>): Upstream {
  const held = async <Value>(answer: Promise<Value>): Promise<Value> => {
    const value = await answer;
    await confirmed();
    return value;
  };
  return {
    async *rows(request) {
      for await (const batch of upstream.rows(request)) {
        await confirmed();
        yield batch;
      }
      await confirmed();
    },
    list: (request) => held(upstream.list(request)),
    stats: (request) => held(upstream.stats(request)),
    statsRange: (request) => held(upstream.statsRange(request)),
    tail: (request) => held(upstream.tail(request)),
    deletion: (request) => upstream.deletion(request),
    hold: async (range) => (await upstream.hold?.(range)) ?? (() => undefined),
  };
}
