import { ageBuckets } from '../../core/cache/answer-tier.js';
import type { AnswerStore } from '../../core/cache/answer-store.js';
import { diskEngine } from '../../core/cache/disk-engine/engine.js';
import type { DiskObserver } from '../../core/cache/disk-space.js';
import { DiskTier } from '../../core/cache/disk-tier.js';
import type { PeerCacheOptions } from '../../core/base/options.gen.js';
import type { Host } from '../../core/plugin/index.js';

export const diskMetrics = {
  disk_cache_hits_total: { type: 'counter', help: 'Disk cache hits.' },
  disk_cache_misses_total: {
    type: 'counter',
    help: 'Disk cache misses, for answers that were neither in memory nor on disk.',
  },
  disk_cache_age_seconds: {
    type: 'histogram',
    help: 'Age of disk cache hits.',
    buckets: ageBuckets,
  },
  disk_cache_drops_total: {
    type: 'counter',
    help: 'Disk cache entries that were dropped or refused, by reason: expired, evicted for others, refused (too large, or the disk is too slow), damaged, lost when the disk failed.',
    labels: ['reason'],
  },
  disk_cache_entries: { type: 'gauge', help: 'Entries in the disk cache.' },
  disk_cache_bytes: { type: 'gauge', help: 'Size of the disk cache file in bytes.' },
  disk_cache_flushes_total: { type: 'counter', help: 'Flushes of the write buffer to disk.' },
  disk_cache_errors_total: { type: 'counter', help: 'Failures of the disk cache.' },
  disk_cache_up: {
    type: 'gauge',
    help: 'Whether the disk cache is in use: 1, or 0 while its disk fails.',
    ofWorkers: 'min',
  },
} as const;

type DiskHost = Pick<Host<typeof diskMetrics>, 'clock' | 'logAs' | 'meters' | 'setup' | 'shared' | 'onStop'>;

/** The tier that has a file open: after a reload two instances of the plugin may have the same path, and only one may use the file. */
interface DiskPlace {
  open: DiskTier | undefined;
}

/** Opens the disk cache behind the store. A tier of this process that already has the file flushes and closes it first. */
export async function openDisk(
  options: PeerCacheOptions,
  store: AnswerStore,
  host: DiskHost,
): Promise<DiskTier> {
  const { clock } = host;
  const log = host.logAs('disk_cache');
  const place = host.shared<DiskPlace>(`disk cache ${options.diskCachePath}`, () => ({ open: undefined }));
  await place.open?.close();
  const disk = await DiskTier.open({
    options,
    largest: store.largest,
    keepExpiredMs: options.staleIfError,
    clock,
    log,
    observer: observerOf(host),
  });
  place.open = disk;
  log.info('disk cache opened', { 'disk_cache.engine': (await diskEngine()).name });
  store.addTier(disk, host.setup);
  host.onStop(() => store.removeTier(disk));
  return disk;
}

function observerOf({ meters }: DiskHost): DiskObserver {
  return {
    looked: (ageMs) => {
      if (ageMs === undefined) meters.disk_cache_misses_total.add(1, {});
      else {
        meters.disk_cache_hits_total.add(1, {});
        meters.disk_cache_age_seconds.observe(ageMs / 1000, {});
      }
    },
    dropped: (reason, count) => meters.disk_cache_drops_total.add(count, { reason }),
    resized: (entries, bytes) => {
      meters.disk_cache_entries.set(entries, {});
      meters.disk_cache_bytes.set(bytes, {});
    },
    flushed: () => meters.disk_cache_flushes_total.add(1, {}),
    failed: () => meters.disk_cache_errors_total.add(1, {}),
    switched: (isOn) => meters.disk_cache_up.set(isOn ? 1 : 0, {}),
  };
}
