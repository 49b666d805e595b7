import { readSnapshotBytes } from '../../core/base/files/snapshot-bytes.js';
import type { SnapshotFile } from '../../core/base/files/snapshot-file.js';
import type { AddEntry, OtherMembers } from '../../core/base/files/snapshot-json.js';
import { Pacer } from '../../core/base/pace/steps.js';
import { KeptData } from '../../core/cache/kept-data.js';
import type { Facts } from '../../core/engine/facts.js';
import type { engineMetrics } from '../../core/engine/metrics.js';
import { packageVersion } from '../../core/kernel/options/index.js';
import type { Host } from '../../core/plugin/index.js';

type FactsHost = Pick<Host<typeof engineMetrics>, 'clock' | 'log' | 'meters' | 'shared' | 'setup' | 'onStop'>;

const format = { version: 2, member: 'facts_by_key', depth: 1 } as const;
const intervalMs = 60_000;
/** Timeout for requests to peers. */
const peersMs = 5_000;

/**
 * Keeps the engine's facts by time segment, which other replicas may request. With a file, they are initialized from it or else from another
 * replica, and saved to it from then on.
 * @param path path of the file; empty for none
 */
export function keptFacts(path: string, facts: Facts, host: FactsHost) {
  const { log, meters, setup } = host;
  // Another release may derive other facts from the same rows.
  const release = packageVersion();
  /** Everything that facts depend on besides their keys and the rows. */
  const others = (): OtherMembers => ({ ...facts.others(), setup, release });
  const isOurs = (members: ReadonlyMap<string, unknown>): boolean =>
    members.get('setup') === setup && members.get('release') === release;
  let salted = (): void => undefined;
  const kept: KeptData = new KeptData(
    {
      ...{ flag: '-facts-persist-path', path, format, offerName: '__facts_snapshot:v2', intervalMs },
      source: { revision: () => facts.revision(), entries: () => facts.entries(), others },
      observer: {
        wrote: (bytes) => {
          meters.learned_snapshots_total.add(1, { outcome: 'written' });
          meters.learned_snapshot_bytes.set(bytes, {});
        },
        failed: () => meters.learned_snapshots_total.add(1, { outcome: 'failed' }),
      },
      latest: () => facts.latest(),
      purge: (tenantId) => facts.purge(tenantId),
      // True if the file contains everything that is known.
      restore: async (file, signal) => {
        const isSaved = await restoreFile(file, signal).finally(() => salted());
        return (await takeFromPeers(signal)) === 0 && isSaved;
      },
    },
    host,
  );

  async function restoreFile(file: SnapshotFile, signal: AbortSignal): Promise<boolean> {
    const members = new Map<string, unknown>();
    const staged = facts.stage();
    let isTaken: boolean | undefined;
    const add = (names: readonly string[], value: unknown): void => {
      if (isTaken === undefined) {
        // The other members precede the entries.
        isTaken = isOurs(members);
        if (isTaken) facts.takeSalt(members.get('salt'));
        salted();
      }
      if (isTaken) staged.add(names, value);
    };
    const read = await file.read(add, signal, { others: members });
    if (read === undefined) return facts.size === 0;
    const taken = await facts.take(staged, new Pacer(signal));
    meters.learned_restored_total.add(taken, { source: 'disk' });
    log.info('facts restored', { 'file.path': path, 'file.size': read.bytes, 'facts.entries': taken });
    return taken === facts.size;
  }

  /** Takes the facts of one of the peers, if there are none yet: facts from before changes of the data have other checksums. */
  async function takeFromPeers(signal: AbortSignal): Promise<number> {
    let taken = 0;
    const enough = new AbortController();
    const use = async (bytes: Buffer, ended: AbortSignal): Promise<void> => {
      const members = new Map<string, unknown>();
      const staged = facts.stage();
      const add: AddEntry = (names, value) => staged.add(names, value);
      await readSnapshotBytes(format, bytes, add, ended, { others: members });
      if (facts.size > 0 || !isOurs(members)) return;
      facts.takeSalt(members.get('salt'));
      taken = await facts.take(staged, new Pacer(ended));
      enough.abort();
    };
    try {
      const both = AbortSignal.any([signal, enough.signal]);
      if (facts.size === 0) await kept.ask({ timeoutMs: peersMs, signal: both, use });
    } catch (error) {
      if (!enough.signal.aborted) throw error;
    }
    meters.learned_restored_total.add(taken, { source: 'peer' });
    if (taken > 0) log.info('facts taken from a peer', { 'facts.entries': taken });
    return taken;
  }

  return {
    /**
     * Restores the facts in the background, except for the checksums' salt in the file: facts learned from now on use it.
     * @throws Error naming the option if the file cannot be written
     */
    start: async (): Promise<void> => {
      if (path === '') return;
      const hasSalt = new Promise<void>((resolve) => (salted = resolve));
      await kept.start();
      await hasSalt;
    },
    /** Drops facts that must not return, of one tenant only if its id is given. */
    forget: (tenantId?: string) => kept.purge(tenantId),
    stop: () => kept.stop(),
  };
}
