import { KeptSnapshot, snapshotTurns } from '../../core/base/files/kept-snapshot.js';
import type { SnapshotFile } from '../../core/base/files/snapshot-file.js';
import { readSnapshotBytes, snapshotBytes } from '../../core/base/files/snapshot-bytes.js';
import { Pacer } from '../../core/base/pace/steps.js';
import type { AddEntry } from '../../core/base/files/snapshot-json.js';
import type { KeptPatternsOptions } from '../../core/base/options.gen.js';
import { fleetOf, largestSnapshot } from '../../core/cache/fleet.js';
import type { Host } from '../../core/plugin/index.js';
import type { keptPatternsMetrics } from './metrics.js';
import { stageEntry, type PatternStore } from './store.js';

type PersistOptions = Pick<
  KeptPatternsOptions,
  'persistPath' | 'persistInterval' | 'startupStaleThreshold' | 'startupPeerWarmTimeout'
>;
type PatternsHost = Pick<Host<typeof keptPatternsMetrics>, 'clock' | 'log' | 'meters' | 'shared' | 'onStop'>;

const format = { version: 1, member: 'entries_by_key', depth: 1 } as const;
/** The name under which replicas request each other's patterns. */
export const offerName = '__patterns_snapshot:v1';

/** Offers the stored patterns to other replicas. */
export function offerPatterns(store: PatternStore, host: Pick<Host, 'shared' | 'clock' | 'onStop'>): void {
  host.onStop(
    fleetOf(host).offer(offerName, () =>
      snapshotBytes(format, { savedAtMs: host.clock.nowMs(), largest: largestSnapshot }, store.latest()),
    ),
  );
}

/** The snapshot file of a store: read at startup, written from then on. */
export class PatternSnapshot {
  readonly #options: PersistOptions;
  readonly #store: PatternStore;
  readonly #host: PatternsHost;
  readonly #kept: KeptSnapshot;
  #setup = '';

  constructor(options: PersistOptions, store: PatternStore, host: PatternsHost) {
    const { clock, log, meters } = host;
    this.#options = options;
    this.#store = store;
    this.#host = host;
    this.#kept = new KeptSnapshot({
      flag: '-patterns-persist-path',
      path: options.persistPath,
      ...{ format, clock, log },
      source: store,
      observer: {
        wrote: (bytes) => store.wrote(bytes),
        failed: () => meters.patterns_persist_errors_total.add(1, {}),
      },
      intervalMs: options.persistInterval,
      restore: (file, signal) => this.#restore(file, signal),
    });
  }

  get isWarming(): boolean {
    return this.#kept.isWarming;
  }

  /**
   * Starts the restore in the background.
   * @throws Error naming the option when the file cannot be written
   */
  async start(setup: string): Promise<void> {
    this.#setup = setup;
    await this.#kept.start(snapshotTurns(this.#options.persistPath, this.#host));
  }

  /** Drops answers from the store and from the file, so that a restart does not restore them. */
  forget(drop: () => void): Promise<void> {
    return this.#kept.forget(drop);
  }

  stop(): Promise<void> {
    return this.#kept.stop();
  }

  /** Restores this process's own file first, then, if that is old, the patterns of peers. The newer answer of a key wins. */
  async #restore(file: SnapshotFile, signal: AbortSignal): Promise<boolean> {
    const { isSaved, savedAtMs } = await this.#restoreFile(file, signal);
    const isOld = this.#host.clock.nowMs() - savedAtMs > this.#options.startupStaleThreshold;
    const taken = isOld ? await this.#restorePeers(signal) : 0;
    return isSaved && taken === 0;
  }

  /** Resolves to the number of answers taken from peers. */
  async #restorePeers(ended: AbortSignal): Promise<number> {
    let taken = 0;
    await fleetOf(this.#host).ask({
      name: offerName,
      timeoutMs: this.#options.startupPeerWarmTimeout,
      signal: ended,
      use: async (bytes, signal) => {
        const staged = this.#store.stage();
        const nowMs = this.#host.clock.nowMs();
        const setup = this.#setup;
        const add: AddEntry = (names, value) => void stageEntry(staged, { setup, nowMs }, names, value);
        await readSnapshotBytes(format, bytes, add, signal);
        taken += await this.#store.take(staged, 'peer', new Pacer(signal));
      },
    });
    if (taken > 0) this.#host.log.info('patterns loaded from peers', { 'patterns.entries': taken });
    return taken;
  }

  /**
   * Reads the file. Resolves to its time of writing (-Infinity if there is none), and to whether it holds everything that the store holds.
   */
  async #restoreFile(
    file: SnapshotFile,
    signal: AbortSignal,
  ): Promise<{ readonly isSaved: boolean; readonly savedAtMs: number }> {
    const setup = this.#setup;
    const staged = this.#store.stage();
    const nowMs = this.#host.clock.nowMs();
    let others = 0;
    const read = await file.read((names, value) => {
      if (!stageEntry(staged, { setup, nowMs }, names, value)) others += 1;
    }, signal);
    // There is no file, or it was moved aside.
    if (read === undefined) return { isSaved: this.#store.size === 0, savedAtMs: -Infinity };
    const taken = await this.#store.take(staged, 'disk', new Pacer(signal));
    this.#host.log.info('patterns restored', {
      'file.path': this.#options.persistPath,
      'file.size': read.bytes,
      'patterns.entries': taken,
      'patterns.entries_of_other_options': others,
    });
    return { isSaved: others === 0 && taken === this.#store.size, savedAtMs: read.savedAtMs };
  }
}
