import { readSnapshotBytes } from '../../core/base/files/snapshot-bytes.js';
import type { SnapshotFile } from '../../core/base/files/snapshot-file.js';
import type { OtherMembers } from '../../core/base/files/snapshot-json.js';
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
 * The engine's facts by time segment, which other replicas may request. With a file, they are initialized from it or else from another
 * replica, and saved to it from then on.
 */
export class KeptFacts {
  readonly #path: string;
  readonly #facts: Facts;
  readonly #host: FactsHost;
  readonly #kept: KeptData;
  /** Version of this release, because another one may derive other facts from the same rows. */
  readonly #release = packageVersion();
  #salted: (() => void) | undefined;

  /** @param path path of the file; empty for none */
  constructor(path: string, facts: Facts, host: FactsHost) {
    const { meters } = host;
    this.#path = path;
    this.#facts = facts;
    this.#host = host;
    this.#kept = new KeptData(
      {
        ...{ flag: '-facts-persist-path', path, format, offerName: '__facts_snapshot:v2', intervalMs },
        source: {
          revision: () => facts.revision(),
          entries: () => facts.entries(),
          others: () => this.#others(),
        },
        observer: {
          wrote: (bytes) => {
            meters.learned_snapshots_total.add(1, { outcome: 'written' });
            meters.learned_snapshot_bytes.set(bytes, {});
          },
          failed: () => meters.learned_snapshots_total.add(1, { outcome: 'failed' }),
        },
        latest: () => facts.latest(),
        purge: (tenantId) => facts.purge(tenantId),
        restore: (file, signal) => this.#restore(file, signal),
      },
      host,
    );
  }

  /**
   * Restores the facts in the background, except for the checksums' salt in the file: facts learned from now on use it.
   * @throws Error naming the option if the file cannot be written
   */
  async start(): Promise<void> {
    if (this.#path === '') return;
    const salted = new Promise<void>((resolve) => (this.#salted = resolve));
    await this.#kept.start();
    await salted;
  }

  /** Drops facts that must not return, of one tenant only if its id is given. */
  forget(tenantId?: string): Promise<void> {
    return this.#kept.purge(tenantId);
  }

  stop(): Promise<void> {
    return this.#kept.stop();
  }

  /** Restores the facts; true if the file contains everything that is known. */
  async #restore(file: SnapshotFile, signal: AbortSignal): Promise<boolean> {
    let isSaved: boolean;
    try {
      isSaved = await this.#restoreFile(file, signal);
    } finally {
      this.#salted?.();
    }
    return (await this.#takeFromPeers(signal)) === 0 && isSaved;
  }

  async #restoreFile(file: SnapshotFile, signal: AbortSignal): Promise<boolean> {
    const others = new Map<string, unknown>();
    const staged = this.#facts.stage();
    let isOurs: boolean | undefined;
    const add = (names: readonly string[], value: unknown): void => {
      if (isOurs === undefined) {
        // The other members precede the entries.
        isOurs = this.#isOurs(others);
        if (isOurs) this.#facts.takeSalt(others.get('salt'));
        this.#salted?.();
      }
      if (isOurs) staged.add(names, value);
    };
    const read = await file.read(add, signal, { others });
    if (read === undefined) return this.#facts.size === 0;
    const taken = await this.#facts.take(staged, new Pacer(signal));
    this.#host.meters.learned_restored_total.add(taken, { source: 'disk' });
    const fields = { 'file.path': this.#path, 'file.size': read.bytes, 'facts.entries': taken };
    this.#host.log.info('facts restored', fields);
    return taken === this.#facts.size;
  }

  /** Takes the facts of one of the peers, if there are none yet: facts from before changes of the data have other checksums. */
  async #takeFromPeers(signal: AbortSignal): Promise<number> {
    let taken = 0;
    const enough = new AbortController();
    const use = async (bytes: Buffer, ended: AbortSignal): Promise<void> => {
      const others = new Map<string, unknown>();
      const staged = this.#facts.stage();
      await readSnapshotBytes(format, bytes, (names, value) => staged.add(names, value), ended, { others });
      if (this.#facts.size > 0 || !this.#isOurs(others)) return;
      this.#facts.takeSalt(others.get('salt'));
      taken = await this.#facts.take(staged, new Pacer(ended));
      enough.abort();
    };
    try {
      const both = AbortSignal.any([signal, enough.signal]);
      if (this.#facts.size === 0) await this.#kept.ask({ timeoutMs: peersMs, signal: both, use });
    } catch (error) {
      if (!enough.signal.aborted) throw error;
    }
    this.#host.meters.learned_restored_total.add(taken, { source: 'peer' });
    if (taken > 0) this.#host.log.info('facts taken from a peer', { 'facts.entries': taken });
    return taken;
  }

  /** Everything that facts depend on besides their keys and the rows. */
  #others(): OtherMembers {
    return { ...this.#facts.others(), setup: this.#host.setup, release: this.#release };
  }

  #isOurs(others: ReadonlyMap<string, unknown>): boolean {
    const own = this.#others();
    return others.get('setup') === own['setup'] && others.get('release') === own['release'];
  }
}
