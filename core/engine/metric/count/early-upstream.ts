import type { Upstream } from '../../../victoria/upstream/types.js';

/** A backend that is asked before it is certain that the answers will be used. */
export interface EarlyUpstream {
  readonly upstream: Upstream;
  /** Releases the answers. */
  confirm(): void;
  /** Aborts its calls; they fail. */
  giveUp(): void;
}

/** Withholds all answers until they are confirmed. Undefined when single calls cannot be aborted. */
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
    upstream: withheld(bound, confirmed),
    confirm,
    giveUp: () => {
      stop.abort(new Error('given up: another question turned out to be right'));
      confirm();
    },
  };
}

/** Calls start immediately; their answers are released once confirmed. */
function withheld(upstream: Upstream, confirmed: () => Promise<void>): Upstream {
  const held = async <Value>(answer: Promise<Value>): Promise<Value> => {
    const value = await answer;
    await confirmed();
    return value;
  };
  return {
    owner: upstream.owner,
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
