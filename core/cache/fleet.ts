import type { Host } from '../kernel/plugin/host.js';

/** Empties the caches of the other replicas, those of one tenant where its id is given; by address, `purged` or `error: ...`. */
export type PurgeOthers = (tenantId?: string) => Promise<ReadonlyMap<string, string>>;

/** The replicas that share a cache, for those who empty it. */
export class Fleet {
  #purgeOthers: PurgeOthers | undefined;

  /** Called by who knows the others. */
  join(purgeOthers: PurgeOthers): void {
    this.#purgeOthers = purgeOthers;
  }

  /** Undefined where no cache is shared. */
  async purgeOthers(tenantId?: string): Promise<ReadonlyMap<string, string> | undefined> {
    return this.#purgeOthers?.(tenantId);
  }
}

/** The fleet of this process. */
export function fleetOf(host: Pick<Host, 'shared'>): Fleet {
  return host.shared('fleet', () => new Fleet());
}
