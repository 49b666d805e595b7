import { tenantOf, tenantPart } from './keys.js';

/** So many tenants are told apart; one more makes all begin anew, which is always right. */
const maxTenants = 10_000;

/**
 * What has been purged, as a text to compare: an answer that was asked for before a purge of its tenant has another one than what is asked
 * for after it.
 */
export class Generations {
  readonly #nowMs: () => number;
  #ofAll = 0;
  readonly #byTenant = new Map<string, number>();
  #allPurgedMs = -Infinity;
  readonly #purgedMs = new Map<string, number>();

  /** @param nowMs a clock that never runs backwards, where times of purges matter */
  constructor(nowMs = () => 0) {
    this.#nowMs = nowMs;
  }

  /** The generation that a key of core/cache/keys.ts belongs to now. */
  of(key: string): string {
    return `${this.#ofAll}.${this.#byTenant.get(tenantOf(key)) ?? 0}`;
  }

  /** When there was a purge that such a key belongs to; long ago if never. */
  purgedMs(key: string): number {
    return Math.max(this.#allPurgedMs, this.#purgedMs.get(tenantOf(key)) ?? -Infinity);
  }

  /** A purge of one tenant, or of all. */
  next(tenantId?: string): void {
    const tenant = tenantId === undefined ? undefined : tenantPart(tenantId);
    if (tenant === undefined || (this.#byTenant.size >= maxTenants && !this.#byTenant.has(tenant))) {
      this.#ofAll += 1;
      this.#byTenant.clear();
      this.#allPurgedMs = this.#nowMs();
      this.#purgedMs.clear();
    } else {
      this.#byTenant.set(tenant, (this.#byTenant.get(tenant) ?? 0) + 1);
      this.#purgedMs.set(tenant, this.#nowMs());
    }
  }
}
