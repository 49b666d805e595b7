import { tenantOf, tenantPart } from './keys.js';

/** Maximum number of tenants with a generation of their own. One more starts a new generation for all, which is always correct. */
const maxTenants = 10_000;

/** Purge counters as comparable texts: an answer requested before a purge of its tenant has another generation than requests after it. */
export class Generations {
  readonly #nowMs: () => number;
  #ofAll = 0;
  readonly #byTenant = new Map<string, number>();
  #allPurgedMs = -Infinity;
  readonly #purgedMs = new Map<string, number>();

  /** @param nowMs a monotonic clock; needed only for `purgedMs` */
  constructor(nowMs = () => 0) {
    this.#nowMs = nowMs;
  }

  /** The current generation of a key (core/cache/keys.ts). */
  of(key: string): string {
    return `${this.#ofAll}.${this.#byTenant.get(tenantOf(key)) ?? 0}`;
  }

  /** Time of the last purge that affects the key; -Infinity if there was none. */
  purgedMs(key: string): number {
    return Math.max(this.#allPurgedMs, this.#purgedMs.get(tenantOf(key)) ?? -Infinity);
  }

  /** Records a purge of one tenant, or of all. */
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
