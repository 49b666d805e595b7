import type { WindowSplitOptions } from '../../core/base/options.gen.js';
import { ByteLru } from '../../core/base/memory/byte-lru.js';
import { SpareTime, whileIdle } from '../../core/cache/spare-time.js';
import type { Exchange, Host, Rest } from '../../core/plugin/index.js';
import type { QueryRangeRequest } from '../../core/wire/api/request.js';
import type { TimeWindow } from './windows.js';
import type { windowMetrics } from './metrics.js';

type WarmOptions = Pick<WindowSplitOptions, 'backgroundWarmMaxWindows' | 'historyCacheTtl' | 'splitInterval'>;

/** A metric query whose preceding windows may be read in advance. */
export interface Neighbourhood {
  readonly exchange: Exchange<'tenant' | 'plan'>;
  readonly request: QueryRangeRequest;
  readonly rest: Rest;
  /** The key of all its windows, without their times. */
  readonly question: string;
  /** The requested windows, in order. */
  readonly windows: readonly TimeWindow[];
}

const msNs = 1_000_000n;
const maxQuestions = 2_000;
const maxBytes = 2 * 1024 * 1024;
/** Maximum number of windows of one read. */
const perRead = 4;

/**
 * Reads the windows before those of a repeated query in advance, for clients that look further back. It only runs while no range query
 * does.
 */
export function neighbourWarmer(
  { backgroundWarmMaxWindows, historyCacheTtl, splitInterval }: WarmOptions,
  host: Pick<Host<typeof windowMetrics>, 'clock' | 'strain' | 'meters' | 'log' | 'shared'>,
  isIdle: () => boolean,
  read: (exchange: Exchange<'tenant' | 'plan'>, rest: Rest) => Promise<unknown>,
) {
  /** Previous queries, and whether their neighbours have been read. */
  const asked = new ByteLru<{ isWarm: boolean }>({ maxEntries: maxQuestions, maxBytes, clock: host.clock });
  const spare = new SpareTime(host, whileIdle(isIdle));

  /** Reads the windows, newest first. Ends early when a client sends a query. */
  async function warm(
    { request, rest, windows }: Neighbourhood,
    detached: Exchange<'tenant'>,
  ): Promise<void> {
    const [first] = windows;
    // Shorter windows may still change, and longer ones belong to a very long range.
    if (first === undefined || first.endMs - first.startMs !== splitInterval) return;
    let left = Math.min(backgroundWarmMaxWindows, windows.length);
    for (let endMs = first.startMs; left > 1 && spare.isFree;) {
      // A range of a single window would not be split.
      const count = left <= perRead + 1 ? left : perRead;
      const startMs = endMs - count * splitInterval;
      const range = { startNs: BigInt(startMs) * msNs, endNs: BigInt(endMs) * msNs };
      await read(detached.derive<'plan'>({ request: { ...request, range } }), rest);
      host.meters.window_warmed_total.add(count, {});
      left -= count;
      endMs = startMs;
    }
  }

  return {
    /** Records that a query has been answered. */
    answered: (neighbourhood: Neighbourhood): void => {
      const { question, exchange } = neighbourhood;
      const before = asked.get(question);
      if (before === undefined) asked.set(question, { isWarm: false }, 2 * question.length, historyCacheTtl);
      else before.isWarm ||= spare.add(question, exchange, (detached) => warm(neighbourhood, detached));
    },
    stop: () => spare.stop(),
  };
}
