/** Stage `guard`: refuses what a client, a tenant or this replica may not have before it costs anything. */
import type { TenantLimits } from '../../core/limits/limits.js';
import type { GuardOptions } from '../../core/options/options.gen.js';
import {
  apiError,
  defineStage,
  type Answer,
  type ApiRequest,
  type Exchange,
  type Host,
  type Rest,
  type Stage,
} from '../../core/plugin/index.js';
import { Admissions } from './admissions.js';
import { checkRequest } from './checks.js';
import { TokenBuckets } from './token-buckets.js';

const metrics = {
  guard_rejected_total: { type: 'counter', help: 'Requests refused by the guard.', labels: ['reason'] },
  guard_in_flight: { type: 'gauge', help: 'Requests in flight behind the guard.' },
} as const;

export default defineStage<GuardOptions, 'tenant', never, typeof metrics>({
  name: 'guard',
  summary: 'Rate limit, in-flight cap, query length and resolution limits.',
  needs: ['tenant'],
  gives: [],
  rest: 'once',
  optional: true,
  metrics,
  create: (options, host) => new Guard(options, host),
});

class Guard implements Stage<'tenant', never> {
  readonly #host: Host<typeof metrics>;
  /** Undefined when the rate limit is off. */
  readonly #buckets: TokenBuckets | undefined;
  readonly #rateLimit: string;
  readonly #admissions: Admissions;

  constructor(options: GuardOptions, host: Host<typeof metrics>) {
    const { rateLimitPerSecond, rateLimitBurst, maxConcurrent } = options;
    this.#host = host;
    this.#rateLimit = String(rateLimitPerSecond);
    this.#buckets =
      rateLimitPerSecond > 0
        ? new TokenBuckets({ perSecond: rateLimitPerSecond, burst: rateLimitBurst, clock: host.clock })
        : undefined;
    this.#admissions = new Admissions(maxConcurrent);
  }

  async handle(exchange: Exchange<'tenant'>, rest: Rest): Promise<Answer> {
    const leave = this.#admit(exchange);
    try {
      const { id, limitIds } = exchange.slots.tenant;
      this.#check(exchange.request, this.#host.limits.of(limitIds ?? [id]));
      return await rest(exchange);
    } finally {
      leave();
    }
  }

  /** Rate first, then the in-flight cap (spec-gaps: Errors and limits). The parts of one request count once. */
  #admit(exchange: Exchange<'tenant'>): () => void {
    const { trace, caller } = exchange;
    if (this.#admissions.isFirst(trace) && this.#buckets?.take(caller.address) === false) {
      this.#count('rate');
      throw apiError('rateLimited', {}, { headers: { 'X-RateLimit-Limit': this.#rateLimit } });
    }
    const leave = this.#admissions.enter(trace);
    if (leave === undefined) {
      this.#count('concurrency');
      throw apiError('tooManyConcurrent', {});
    }
    this.#host.meters.guard_in_flight.set(this.#admissions.inFlight, {});
    return () => {
      leave();
      this.#host.meters.guard_in_flight.set(this.#admissions.inFlight, {});
    };
  }

  #check(request: ApiRequest, limits: TenantLimits): void {
    try {
      checkRequest(request, limits, this.#host.limits.process);
    } catch (error) {
      this.#count('limit');
      throw error;
    }
  }

  #count(reason: string): void {
    this.#host.meters.guard_rejected_total.add(1, { reason });
  }
}
