/** Stage `guard`: enforces the limits of clients, tenants and this replica, before a request causes any cost. */
import { createHash } from 'node:crypto';
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { startInterval } from '../../core/base/time/waits.js';
import { type HeldPermit, heldPermit } from '../../core/base/admission/fair-queue.js';
import type { Tenant } from '../../core/base/caller.js';
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
import type { Workers } from '../../core/workers/workers.js';
import { Admissions, type RefusalReason } from './admissions.js';

/** The address and tenant whose rate a request counts against. */
export interface Payer {
  /** Remote address. */
  readonly address: string;
  readonly tenant: Tenant;
}

/** The party a refusal was counted against: an address, an address that several tenants share, or a tenant. */
export type RefusedBy = 'address' | 'shared_address' | 'tenant';

export interface RateSettings {
  readonly options: Pick<GuardOptions, 'rateLimitPerSecond' | 'rateLimitBurst' | 'rateLimitBy'>;
  readonly pluginId: string;
  readonly workers: Pick<Workers, 'tokens'>;
  readonly nowMs: () => number;
  /** Called for each refused request. */
  readonly onRefused: (by: RefusedBy) => void;
  /** Called, rarely, when one address that several tenants share gets most refusals. */
  readonly onShared: (address: string) => void;
}

/**
 * The rate limit: a token bucket for each remote address, or for each tenant. A request over several tenants takes a token of each. A
 * bucket that is evicted comes back full, as a new one is, so a client gains no more by eviction than by using another name.
 */
export class Rate {
  readonly #settings: RateSettings;
  /** Undefined when the limit is off. */
  readonly #tokens: ReturnType<Workers['tokens']> | undefined;
  readonly #shared: SharedAddresses;

  constructor(settings: RateSettings) {
    const { pluginId, workers, nowMs } = settings;
    const { rateLimitPerSecond: perSecond, rateLimitBurst: size, rateLimitBy: by } = settings.options;
    this.#settings = settings;
    this.#shared = new SharedAddresses(nowMs);
    // A changed rate is a separate budget.
    const name = `${pluginId} rate of ${perSecond} and ${size} by ${by}`;
    this.#tokens = perSecond > 0 && size > 0 ? workers.tokens({ name, size, perSecond }) : undefined;
  }

  /** Takes the tokens for a request; false when one is missing. */
  take(payer: Payer): boolean | Promise<boolean> {
    const tokens = this.#tokens;
    if (tokens === undefined) return true;
    const taken = this.#keysOf(payer).map((key) => tokens.take(key));
    if (taken.every((one) => typeof one === 'boolean')) return this.#judge(payer, taken);
    const soon = taken.map((one) => Promise.resolve(one));
    return Promise.all(soon).then((all) => this.#judge(payer, all));
  }

  /** Returns a function that takes the tokens for a request of one tenant, as far as this process holds some. */
  takerOf(payer: Payer): () => boolean {
    const tokens = this.#tokens;
    if (tokens === undefined) return () => true;
    const keys = this.#keysOf(payer);
    return () => keys.every((key) => tokens.takeNow(key));
  }

  #keysOf({ address, tenant }: Payer): readonly string[] {
    if (this.#settings.options.rateLimitBy === 'address') return [address];
    return (tenant.limitIds ?? [tenant.id]).map(digestOf);
  }

  #judge({ address, tenant }: Payer, taken: readonly boolean[]): boolean {
    if (taken.every(Boolean)) return true;
    const { options, onRefused, onShared } = this.#settings;
    if (options.rateLimitBy === 'tenant') onRefused('tenant');
    else {
      const { isShared, isWorthTelling } = this.#shared.refused(address, digestOf(tenant.id));
      onRefused(isShared ? 'shared_address' : 'address');
      if (isWorthTelling) onShared(address);
    }
    return false;
  }
}

/** Hashes an id, because ids come from headers: they may be long, and slices of longer texts that would stay in memory. */
function digestOf(id: string): string {
  return createHash('sha256').update(id).digest('base64').slice(0, 22);
}

/** Length of a window in which refusals are counted. */
const windowMs = 60_000;
/** Minimum number of refusals in a window for a log record. */
const leastRefusals = 20;
const tellEveryMs = 3_600_000;
/** Maximum number of addresses counted individually. */
const maxAddresses = 1_000;

interface Refusals {
  count: number;
  readonly firstTenant: string;
  isShared: boolean;
}

/** Finds the address that several tenants share, such as that of a Grafana server, and that gets most refusals of the rate limit. */
export class SharedAddresses {
  readonly #nowMs: () => number;
  readonly #byAddress = new Map<string, Refusals>();
  #all = 0;
  #sinceMs = -Infinity;
  #toldAtMs = -Infinity;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Counts a refused request of this tenant. Tells whether the address is shared, and whether that should be logged now. */
  refused(address: string, tenant: string): { readonly isShared: boolean; readonly isWorthTelling: boolean } {
    const nowMs = this.#nowMs();
    if (nowMs - this.#sinceMs >= windowMs) {
      this.#sinceMs = nowMs;
      this.#all = 0;
      this.#byAddress.clear();
    }
    this.#all += 1;
    const refusals = this.#of(address, tenant);
    if (refusals === undefined) return { isShared: false, isWorthTelling: false };
    refusals.count += 1;
    refusals.isShared ||= refusals.firstTenant !== tenant;
    const { count, isShared } = refusals;
    const isMost = count >= leastRefusals && 2 * count > this.#all;
    const isWorthTelling = isShared && isMost && nowMs - this.#toldAtMs >= tellEveryMs;
    if (isWorthTelling) this.#toldAtMs = nowMs;
    return { isShared, isWorthTelling };
  }

  #of(address: string, tenant: string): Refusals | undefined {
    const known = this.#byAddress.get(address);
    if (known !== undefined || this.#byAddress.size >= maxAddresses) return known;
    const made: Refusals = { count: 0, firstTenant: tenant, isShared: false };
    this.#byAddress.set(address, made);
    return made;
  }
}

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

  start(): void {
    this.#loop.enable();
    this.#watch = startInterval(() => this.#lookAtLoop(), watchEveryMs).unref();
  }

  stop(): void {
    clearInterval(this.#watch);
    this.#loop.disable();
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
