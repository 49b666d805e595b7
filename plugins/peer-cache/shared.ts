import { ageBuckets } from '../../core/cache/age.js';
import type { AnswerStore } from '../../core/cache/answer-store.js';
import { besideCaches } from '../../core/cache/room.js';
import type { SharedObserver } from '../../core/cache/shared-observer.js';
import { SharedStoreTier } from '../../core/cache/shared-store.js';
import type { PeerCacheOptions } from '../../core/base/options.gen.js';
import type { Host } from '../../core/plugin/index.js';

export const sharedMetrics = {
  shared_cache_up: {
    type: 'gauge',
    help: 'Whether the shared cache is in use: 0 while it fails or is too slow.',
    ofWorkers: 'min',
  },
  shared_cache_hits_total: { type: 'counter', help: 'Answers taken from the shared cache.' },
  shared_cache_misses_total: {
    type: 'counter',
    help: 'Answers that were not in the shared cache, or came too late to be waited for.',
  },
  shared_cache_sets_total: { type: 'counter', help: 'Answers written to the shared cache.' },
  shared_cache_errors_total: {
    type: 'counter',
    help: 'Failures of the shared cache: connection, timeout, auth, full, read_only, loading, protocol, other.',
    labels: ['reason'],
  },
  shared_cache_drops_total: {
    type: 'counter',
    help: 'Answers not written (refused: too large or too many wait; expired, off, full, lost), or read and not used (purged, damaged, version, large).',
    labels: ['reason'],
  },
  shared_cache_purges_total: {
    type: 'counter',
    help: 'Purges that the shared cache was told of by this process, or has told it of.',
    labels: ['by'],
  },
  shared_cache_waiting_bytes: {
    type: 'gauge',
    help: 'Bytes of answers that wait to be written to the shared cache.',
  },
  shared_cache_lookup_seconds: {
    type: 'histogram',
    help: 'How long look-ups in the shared cache were waited for.',
    buckets: [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25],
  },
  shared_cache_age_seconds: {
    type: 'histogram',
    help: 'Age of the answers taken from the shared cache.',
    buckets: ageBuckets,
  },
} as const;

type SharedHost = Pick<
  Host<typeof sharedMetrics>,
  'clock' | 'log' | 'meters' | 'setup' | 'purgeHere' | 'shared' | 'onStop'
>;

/** Puts the store that replicas share behind memory and disk; undefined without one. */
export async function openShared(
  { sharedCacheUrl, sharedCachePrefix, sharedCacheSecret }: PeerCacheOptions,
  store: AnswerStore,
  host: SharedHost,
): Promise<SharedStoreTier | undefined> {
  if (sharedCacheUrl === undefined) return undefined;
  const tier = new SharedStoreTier({
    url: sharedCacheUrl,
    prefix: sharedCachePrefix,
    secret: sharedCacheSecret,
    largest: store.largest,
    clock: host.clock,
    log: host.log,
    observer: observerOf(host),
    purge: (tenant) => host.purgeHere('all', tenantId(tenant)),
  });
  const front = store.addTier(tier, host.setup);
  tier.onLate((key, hit) => void front.put(key, hit, false));
  const waiting = (): number => tier.waitingBytes;
  besideCaches(host).add(waiting);
  host.onStop(() => {
    besideCaches(host).delete(waiting);
    store.removeTier(tier);
  });
  await tier.start();
  return tier;
}

/** The id that keys begin with; where it cannot be told, it is all that is purged. */
function tenantId(part: string | undefined): string | undefined {
  try {
    return part === undefined ? undefined : decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

function observerOf({ meters }: SharedHost): SharedObserver {
  return {
    looked: (tookMs, ageMs) => {
      meters.shared_cache_lookup_seconds.observe(tookMs / 1000, {});
      if (ageMs === undefined) meters.shared_cache_misses_total.add(1, {});
      else {
        meters.shared_cache_hits_total.add(1, {});
        meters.shared_cache_age_seconds.observe(ageMs / 1000, {});
      }
    },
    wrote: () => meters.shared_cache_sets_total.add(1, {}),
    dropped: (reason, count) => meters.shared_cache_drops_total.add(count, { reason }),
    failed: (reason) => meters.shared_cache_errors_total.add(1, { reason }),
    switched: (isOn) => meters.shared_cache_up.set(isOn ? 1 : 0, {}),
    waiting: (bytes) => meters.shared_cache_waiting_bytes.set(bytes, {}),
    purged: (by) => meters.shared_cache_purges_total.add(1, { by }),
  };
}
