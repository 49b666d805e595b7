/** Refusals are counted for as long as this, and then anew. */
const windowMs = 60_000;
/** Fewer refusals than this in one window are not worth a record. */
const leastRefusals = 20;
const tellEveryMs = 3_600_000;
/** Further addresses only count among all. */
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

  /** Counts a refused request of this tenant: whether the address is shared, and whether it is time to tell. */
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
