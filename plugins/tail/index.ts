/** Endpoint plugin `tail`: log entries over a WebSocket as they arrive (docs/protocol/requests.md#tail). */
import { paramContext, parseTail } from '../../core/wire/api/params/index.js';
import type { TailOptions } from '../../core/base/options.gen.js';
import {
  ApiError,
  apiError,
  defineEndpoint,
  type Endpoint,
  type Host,
  type RouteHandler,
  type UpgradeCall,
  type UpgradeHandler,
} from '../../core/plugin/index.js';
import { usualTail } from '../../core/operations/usual-tail.js';
import type { FollowRules } from '../../core/wire/api/follow-rules.js';
import type { LiveAnswer } from '../../core/wire/answer/types.js';
import { errorTable } from '../../core/base/errors/table.js';
import { tailMetrics } from './metrics.js';
import { internalError, runTail } from './tail-run.js';

const routeIds = ['tail', 'legacy_tail'];

export default defineEndpoint<TailOptions, typeof tailMetrics>({
  name: 'tail',
  summary: 'Live tail over a WebSocket: history first, then new lines as they arrive.',
  metrics: tailMetrics,
  create: (options, host) => tails(options, host),
});

function tails(options: TailOptions, host: Host<typeof tailMetrics>): Endpoint {
  const { meters } = host;
  const follow: FollowRules = {
    mode: options.mode,
    refreshMs: Math.max(1, options.refreshInterval),
    reorderMs: options.reorderWindow,
    lookbackMs: options.lookback,
    maxRemembered: options.dedupKeys,
    openTimeoutMs: options.nativeOpenTimeout,
  };
  let open = 0;
  const plain: RouteHandler = () => Promise.reject(apiError('notWebSocket', {}));
  const upgrade: UpgradeHandler = (call) => {
    const isAllowed = mayOpen(call.caller.headers.get('origin'), options.allowedOrigins);
    return isAllowed ? serve(call) : Promise.reject(apiError('tailOriginRefused', {}));
  };

  async function serve(call: UpgradeCall): Promise<void> {
    const { maxOpen } = options;
    if (maxOpen > 0 && open >= maxOpen) throw apiError('tooManyTails', { limit: maxOpen });
    open += 1;
    meters.tail_open.set(open, {});
    try {
      await tail(call);
    } finally {
      open -= 1;
      meters.tail_open.set(open, {});
    }
  }

  async function tail(call: UpgradeCall): Promise<void> {
    const live = await ask(call);
    const socket = await call.accept();
    if (live instanceof ApiError) socket.close(internalError, live.message);
    else await runTail(live, call, socket, options, host);
  }

  /** The live answer, or the only error that clients get as the close reason. */
  async function ask(call: UpgradeCall): Promise<LiveAnswer | ApiError> {
    try {
      const answer = await call.ask(parseTail(call.params, paramContext(host, call), follow));
      if (answer.kind !== 'live') throw new Error(`a tail was answered with ${answer.kind}`);
      return answer;
    } catch (error) {
      if (error instanceof ApiError && error.entry === errorTable.tailNeedsLogs) return error;
      throw error;
    }
  }

  return {
    routes: new Map(routeIds.map((id) => [id, plain])),
    upgrades: new Map(routeIds.map((id) => [id, upgrade])),
    start: () => host.onStop(usualTail(host).claim(serve)),
  };
}

/** True if a page of this origin may open a tail. Clients other than browsers send no origin; the comparison is case-insensitive. */
function mayOpen(origin: string | undefined, allowed: readonly string[]): boolean {
  if (origin === undefined || origin === '') return true;
  const asked = origin.toLowerCase();
  return allowed.some((entry) => entry === '*' || entry.toLowerCase().replace(/\/$/, '') === asked);
}
