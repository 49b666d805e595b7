import { CacheRoom } from '../base/memory/cache-room.js';
import type { Host } from '../kernel/plugin/host.js';

/** Where the caches of this process make room for what else it needs. */
export function cacheRoom(
  { cacheMaxBytes }: { readonly cacheMaxBytes: number },
  host: Pick<Host, 'shared'>,
): CacheRoom {
  return host.shared(
    `cache room of ${cacheMaxBytes}`,
    () => new CacheRoom(cacheMaxBytes, besideCaches(host)),
  );
}

/** What is held outside of the caches under a bound of its own, in bytes: they make no room for it. */
export function besideCaches(host: Pick<Host, 'shared'>): Set<() => number> {
  return host.shared('beside caches', () => new Set());
}
