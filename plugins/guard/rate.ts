import { createHash } from 'node:crypto';
import type { GuardOptions } from '../../core/base/options.gen.js';
import type { Tenant } from '../../core/base/caller.js';
import type { Workers } from '../../core/workers/workers.js';

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
