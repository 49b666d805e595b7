import type { SnapshotFile } from '../../core/base/files/snapshot-file.js';
import { readSnapshotBytes } from '../../core/base/files/snapshot-bytes.js';
import { Pacer } from '../../core/base/pace/steps.js';
import type { AddEntry } from '../../core/base/files/snapshot-json.js';
import type { KeptPatternsOptions } from '../../core/base/options.gen.js';
import { KeptData } from '../../core/cache/kept-data.js';
import type { Host } from '../../core/plugin/index.js';
import type { keptPatternsMetrics } from './metrics.js';
import { stageEntry, type PatternStore } from './store.js';

type PersistOptions = Pick<
  KeptPatternsOptions,
  'persistPath' | 'persistInterval' | 'startupStaleThreshold' | 'startupPeerWarmTimeout'
>;
type PatternsHost = Pick<
  Host<typeof keptPatternsMetrics>,
  'clock' | 'log' | 'meters' | 'setup' | 'shared' | 'onStop'
>;

const format = { version: 1, member: 'entries_by_key', depth: 1 } as const;

/** Keeps the patterns of a store over a restart, and offers them to other replicas. */
export function keptPatterns(options: PersistOptions, store: PatternStore, host: PatternsHost): KeptData {
  const kept: KeptData = new KeptData(
    {
      ...{ flag: '-patterns-persist-path', path: options.persistPath, format },
      ...{ offerName: '__patterns_snapshot:v1', source: store, intervalMs: options.persistInterval },
      observer: {
        wrote: (bytes) => store.wrote(bytes),
        failed: () => host.meters.patterns_persist_errors_total.add(1, {}),
      },
      latest: () => store.latest(),
      purge: (tenantId) => store.purge(tenantId),
      // This process's own file first, then, if that is old, the patterns of peers. The newer answer of a key wins.
      restore: async (file, signal) => {
        const { isSaved, savedAtMs } = await restoreFile(options, store, host, file, signal);
        const isOld = host.clock.nowMs() - savedAtMs > options.startupStaleThreshold;
        const taken = isOld ? await restorePeers(options, store, host, kept, signal) : 0;
        return isSaved && taken === 0;
      },
    },
    host,
  );
  return kept;
}

/** Resolves to the number of answers taken from peers. */
async function restorePeers(
  { startupPeerWarmTimeout: timeoutMs }: PersistOptions,
  store: PatternStore,
  { clock, log, setup }: PatternsHost,
  kept: KeptData,
  ended: AbortSignal,
): Promise<number> {
  let taken = 0;
  const use = async (bytes: Buffer, signal: AbortSignal): Promise<void> => {
    const staged = store.stage();
    const nowMs = clock.nowMs();
    const add: AddEntry = (names, value) => void stageEntry(staged, { setup, nowMs }, names, value);
    await readSnapshotBytes(format, bytes, add, signal);
    taken += await store.take(staged, 'peer', new Pacer(signal));
  };
  await kept.ask({ timeoutMs, signal: ended, use });
  if (taken > 0) log.info('patterns loaded from peers', { 'patterns.entries': taken });
  return taken;
}

/**
 * Reads the file. Resolves to its time of writing (-Infinity if there is none), and to whether it holds everything that the store holds.
 */
async function restoreFile(
  { persistPath }: PersistOptions,
  store: PatternStore,
  { clock, log, setup }: PatternsHost,
  file: SnapshotFile,
  signal: AbortSignal,
): Promise<{ readonly isSaved: boolean; readonly savedAtMs: number }> {
  const staged = store.stage();
  const nowMs = clock.nowMs();
  let others = 0;
  const read = await file.read((names, value) => {
    if (!stageEntry(staged, { setup, nowMs }, names, value)) others += 1;
  }, signal);
  // The file is missing, or it was unusable and has been moved aside.
  if (read === undefined) return { isSaved: store.size === 0, savedAtMs: -Infinity };
  const taken = await store.take(staged, 'disk', new Pacer(signal));
  log.info('patterns restored', {
    'file.path': persistPath,
    'file.size': read.bytes,
    'patterns.entries': taken,
    'patterns.entries_of_other_options': others,
  });
  return { isSaved: others === 0 && taken === store.size, savedAtMs: read.savedAtMs };
}
