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
  create: (options, host) => new Tail(options, host),
});

class Tail implements Endpoint {
  readonly routes: ReadonlyMap<string, RouteHandler>;
  readonly upgrades: ReadonlyMap<string, UpgradeHandler>;
  readonly #options: TailOptions;
  readonly #host: Host<typeof tailMetrics>;
  readonly #follow: FollowRules;
  #open = 0;

  constructor(options: TailOptions, host: Host<typeof tailMetrics>) {
    this.#options = options;
    this.#host = host;
    this.#follow = {
      mode: options.mode,
      refreshMs: Math.max(1, options.refreshInterval),
      reorderMs: options.reorderWindow,
      lookbackMs: options.lookback,
      maxRemembered: options.dedupKeys,
      openTimeoutMs: options.nativeOpenTimeout,
    };
    const plain: RouteHandler = () => Promise.reject(apiError('notWebSocket', {}));
    const upgrade: UpgradeHandler = (call) => {
      const isAllowed = mayOpen(call.caller.headers.get('origin'), options.allowedOrigins);
      return isAllowed ? this.#serve(call) : Promise.reject(apiError('tailOriginRefused', {}));
    };
    this.routes = new Map(routeIds.map((id) => [id, plain]));
    this.upgrades = new Map(routeIds.map((id) => [id, upgrade]));
  }

  start(): void {
    this.#host.onStop(usualTail(this.#host).claim((call) => this.#serve(call)));
  }

  async #serve(call: UpgradeCall): Promise<void> {
    const { maxOpen } = this.#options;
    const { meters } = this.#host;
    if (maxOpen > 0 && this.#open >= maxOpen) throw apiError('tooManyTails', { limit: maxOpen });
    this.#open += 1;
    meters.tail_open.set(this.#open, {});
    try {
      await this.#tail(call);
    } finally {
      this.#open -= 1;
      meters.tail_open.set(this.#open, {});
    }
  }

  async #tail(call: UpgradeCall): Promise<void> {
    const live = await this.#ask(call);
    const socket = await call.accept();
    if (live instanceof ApiError) socket.close(internalError, live.message);
    else await runTail(live, call, socket, this.#options, this.#host);
  }

  /** The live answer, or the only error that clients get as the close reason. */
  async #ask(call: UpgradeCall): Promise<LiveAnswer | ApiError> {
    try {
      const answer = await call.ask(parseTail(call.params, paramContext(this.#host, call), this.#follow));
      if (answer.kind !== 'live') throw new Error(`a tail was answered with ${answer.kind}`);
      return answer;
    } catch (error) {
      if (error instanceof ApiError && error.entry === errorTable.tailNeedsLogs) return error;
      throw error;
    }
  }
}

/** True if a page of this origin may open a tail. Clients other than browsers send no origin; the comparison is case-insensitive. */
function mayOpen(origin: string | undefined, allowed: readonly string[]): boolean {
  if (origin === undefined || origin === '') return true;
  const asked = origin.toLowerCase();
  return allowed.some((entry) => entry === '*' || entry.toLowerCase().replace(/\/$/, '') === asked);
}
