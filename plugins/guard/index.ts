/** Stage `guard`: enforces the limits of clients, tenants and this replica, before a request causes any cost. */
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { type HeldPermit, heldPermit } from '../../core/base/admission/permit.js';
import type { GuardOptions } from '../../core/base/options.gen.js';
import { checkRequestLimits } from '../../core/operations/index.js';
import {
  type AdmitAgain,
  type Answer,
  apiError,
  ApiError,
  defineStage,
  type Exchange,
  type Host,
  type Rest,
  type Stage,
} from '../../core/plugin/index.js';
import type { TenantLimits } from '../../core/wire/limits/tenant-limits.js';
import { Admissions, type RefusalReason } from './admissions.js';
import { type Payer, Rate } from './rate.js';

const nothing = (): void => undefined;

const metrics = {
  guard_rejected_total: { type: 'counter', help: 'Requests refused by the guard.', labels: ['reason'] },
  guard_rate_refused_total: {
    type: 'counter',
    help: 'Requests over the rate limit, by the kind of its key: address, shared_address (an address with several tenants) or tenant.',
    labels: ['by'],
  },
  guard_in_flight: {
    type: 'gauge',
    help: 'In-flight requests that passed the guard, without those that wait for a permit of the backend.',
  },
  guard_waiting: { type: 'gauge', help: 'Requests in the queue of the guard.' },
  guard_limit: {
    type: 'gauge',
    help: 'Current adaptive concurrency limit of requests.',
    ofWorkers: 'min',
  },
  guard_loop_delay_seconds: {
    type: 'histogram',
    help: 'Longest delay of the event loop in each tenth of a second.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
  },
} as const;

export default defineStage<GuardOptions, 'tenant', 'permit', typeof metrics>({
  name: 'guard',
  summary: 'Rate limit, concurrency limit, and limits of query length and resolution.',
  needs: ['tenant'],
  gives: ['permit'],
  rest: 'once',
  optional: true,
  metrics,
  create: (options, host) => new Guard(options, host),
});

/** Requests that may always run, even when the event loop is late: requests that wait for the backend do not load it. */
const minRunning = 2;
/** A higher mean delay means that the event loop is overloaded. */
const loopTargetMs = 3;
const loopResolutionMs = 10;
const watchEveryMs = 100;

class Guard implements Stage<'tenant', 'permit'> {
  readonly #host: Host<typeof metrics>;
  readonly #rate: Rate;
  readonly #rateLimit: string;
  readonly #admissions: Admissions;
  readonly #limit: AdaptiveLimit;
  readonly #loop: IntervalHistogram = monitorEventLoopDelay({ resolution: loopResolutionMs });
  #watch: NodeJS.Timeout | undefined;

  constructor(options: GuardOptions, host: Host<typeof metrics>) {
    const { maxConcurrent, maxConcurrentQueueWait } = options;
    this.#host = host;
    this.#rateLimit = String(options.rateLimitPerSecond);
    this.#rate = new Rate({
      options,
      pluginId: host.pluginId,
      workers: host.workers,
      nowMs: () => host.clock.monotonicMs(),
      onRefused: (by) => host.meters.guard_rate_refused_total.add(1, { by }),
      onShared: (address) =>
        host.log.warn(
          'most rate-limited requests come from one address that several tenants share; set -rate-limit-by=tenant to limit each tenant separately',
          { 'client.address': address },
        ),
    });
    const floor = Math.min(minRunning, maxConcurrent);
    this.#limit = new AdaptiveLimit({ floor, ceiling: maxConcurrent, targetMs: loopTargetMs });
    this.#admissions = new Admissions({
      max: maxConcurrent,
      limit: () => this.#limit.current,
      permitsOf: (inUse, onMore) =>
        host.workers.permits({
          name: `${host.pluginId} permits of ${maxConcurrent}`,
          size: maxConcurrent,
          inUse,
          onMore,
        }),
      queueWaitMs: maxConcurrentQueueWait,
      nowMs: () => host.clock.monotonicMs(),
      refusal: (reason) => this.#refusal(reason),
      onChange: (running, waiting) => {
        host.meters.guard_in_flight.set(running, {});
        host.meters.guard_waiting.set(waiting, {});
      },
    });
  }

  start(): Promise<void> {
    this.#loop.enable();
    this.#watch = setInterval(() => this.#lookAtLoop(), watchEveryMs).unref();
    return Promise.resolve();
  }

  stop(): Promise<void> {
    clearInterval(this.#watch);
    this.#loop.disable();
    return Promise.resolve();
  }

  async handle(exchange: Exchange<'tenant'>, rest: Rest<'permit'>): Promise<Answer> {
    const entered = this.#enter(exchange);
    const permit = entered instanceof Promise ? await entered : entered;
    try {
      const { id, limitIds } = exchange.slots.tenant;
      await this.#check(exchange, this.#host.limits.of(limitIds ?? [id]));
      return await rest(exchange.derive<'permit'>({ slots: { permit } }));
    } finally {
      permit.leave();
    }
  }

  /** The limits depend only on the request, so they are not checked again; the rate and the permits are. */
  admitAgain({ caller, slots }: Exchange<'tenant'>): AdmitAgain {
    const takeNow = this.#rate.takerOf({ address: caller.address, tenant: slots.tenant });
    return () => this.#admissions.hasPermit && takeNow();
  }

  /**
   * Checks the rate first, then the in-flight limit (docs/protocol/errors-and-limits.md#rate-and-requests-in-flight). The parts of one
   * request count once. Background work runs only while permits are free and never holds one.
   */
  #enter({ trace, caller, signal, slots }: Exchange<'tenant'>): HeldPermit | Promise<HeldPermit> {
    if (caller.isBackground === true) return this.#enterInBackground();
    const pay = (): Promise<void> | undefined => this.#pay({ address: caller.address, tenant: slots.tenant });
    return this.#admissions.enter(trace, [slots.tenant.id, caller.address], signal, pay);
  }

  #enterInBackground(): HeldPermit | Promise<HeldPermit> {
    const admissions = this.#admissions;
    if (admissions.hasRoom) return heldPermit(nothing, nothing);
    const more = admissions.more();
    if (more === undefined) throw apiError('tooManyConcurrent', {});
    return more.then(() => {
      if (!admissions.hasRoom) throw apiError('tooManyConcurrent', {});
      return heldPermit(nothing, nothing);
    });
  }

  /** Takes the request's tokens of the rate limit. */
  #pay(payer: Payer): Promise<void> | undefined {
    const taken = this.#rate.take(payer);
    if (taken instanceof Promise) return taken.then((isTaken) => this.#mustBe(isTaken));
    this.#mustBe(taken);
    return undefined;
  }

  #mustBe(isTaken: boolean): void {
    if (isTaken) return;
    this.#count('rate');
    throw apiError('rateLimited', {}, { headers: { 'X-RateLimit-Limit': this.#rateLimit } });
  }

  #refusal(reason: RefusalReason): Error {
    this.#count(reason);
    return apiError('tooManyConcurrent', {});
  }

  /** Adapts the limit to the delay of the event loop, which all requests share: when it is late, too many of them are running. */
  #lookAtLoop(): void {
    const toMs = (ns: number): number => Math.max(0, ns / 1e6 - loopResolutionMs);
    // An empty histogram has no mean.
    if (this.#loop.count > 0) {
      const { inFlight, isRefusing } = this.#admissions;
      this.#limit.observe(Math.max(toMs(this.#loop.mean), this.#host.strain.lateMs), inFlight, isRefusing);
      this.#host.meters.guard_loop_delay_seconds.observe(toMs(this.#loop.max) / 1000, {});
      this.#loop.reset();
    }
    this.#host.meters.guard_limit.set(this.#limit.current, {});
    if (this.#admissions.waiting > 0) {
      this.#admissions.admit();
      this.#admissions.moreForWaiting();
    }
  }

  async #check({ request, signal }: Exchange<'tenant'>, limits: TenantLimits): Promise<void> {
    try {
      await checkRequestLimits(request, limits, this.#host.limits.process, signal);
    } catch (error) {
      // Errors of the query text, and clients that left, are not counted as refusals by a limit.
      if (error instanceof ApiError) this.#count('limit');
      throw error;
    }
  }

  #count(reason: string): void {
    this.#host.meters.guard_rejected_total.add(1, { reason });
  }
}

interface AdaptiveLimitOptions {
  /** Minimum of the limit. */
  readonly floor: number;
  /** Maximum of the limit. */
  readonly ceiling: number;
  /** A longer delay lowers the limit. */
  readonly targetMs: number;
}

/** A concurrency limit that adapts to the delay of fixed-cost work while requests run. */
export class AdaptiveLimit {
  readonly #options: AdaptiveLimitOptions;
  #limit: number;

  constructor(options: AdaptiveLimitOptions) {
    this.#options = options;
    this.#limit = options.ceiling;
  }

  get current(): number {
    return Math.floor(this.#limit);
  }

  /** Records one measured delay. A delay over the target lowers the limit; otherwise it rises, slowly while requests have to be refused. */
  observe(delayMs: number, running: number, isRefusing: boolean): void {
    const { floor, ceiling, targetMs } = this.#options;
    const next =
      delayMs > targetMs
        ? Math.min(this.#limit, Math.max(running, 1)) * decrease
        : this.#limit * (1 + (isRefusing ? slowGrowth : growth));
    this.#limit = Math.min(ceiling, Math.max(floor, next));
  }
}

const decrease = 0.8;
const growth = 0.1;
/**
 * Growth while requests are refused. A limit that overshoots makes refused requests come back in greater number, and no more of them are
 * answered: with a growth of a fifth of a request the throughput was the same, and the slowest hundredth took twice as long
 * (docs/internals/reliability.md).
 */
const slowGrowth = 0.01;
