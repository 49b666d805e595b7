import { SnapshotFile } from '../../core/base/files/snapshot-file.js';
import { SnapshotKeeper } from '../../core/base/files/snapshot-keeper.js';
import { Pacer } from '../../core/base/pace/pacer.js';
import type { KeptPatternsOptions } from '../../core/base/options.gen.js';
import type { Host } from '../../core/plugin/index.js';
import type { keptPatternsMetrics } from './metrics.js';
import { stageEntry, type PatternStore } from './store.js';

type PersistOptions = Pick<KeptPatternsOptions, 'persistPath' | 'persistInterval'>;
type PatternsHost = Pick<Host<typeof keptPatternsMetrics>, 'clock' | 'log' | 'meters'>;

const format = { version: 1, member: 'entries_by_key', depth: 1 } as const;

/** The snapshot file of a store: read when the process starts, written from then on. */
export class PatternSnapshot {
  readonly #options: PersistOptions;
  readonly #store: PatternStore;
  readonly #host: PatternsHost;
  readonly #file: SnapshotFile;
  readonly #keeper: SnapshotKeeper;
  /** Ends the restoring: what is read has been purged, or the process stops. */
  readonly #ended = new AbortController();
  #restored: Promise<void> | undefined;
  #isKeeping = false;
  isWarming = false;

  constructor(options: PersistOptions, store: PatternStore, host: PatternsHost) {
    const { clock, log, meters } = host;
    this.#options = options;
    this.#store = store;
    this.#host = host;
    this.#file = new SnapshotFile({
      flag: '-patterns-persist-path',
      path: options.persistPath,
      format,
      clock,
      log,
    });
    const observer = {
      wrote: (bytes: number) => store.wrote(bytes),
      failed: () => meters.patterns_persist_errors_total.add(1, {}),
    };
    this.#keeper = new SnapshotKeeper(this.#file, store, observer, log);
  }

  /**
   * Restores in the background.
   * @throws Error naming the option when the file cannot be written
   */
  async start(setup: string): Promise<void> {
    await this.#file.open();
    this.isWarming = true;
    this.#restored = this.#restore(setup);
  }

  /** Drops answers that must not come back from the file either. */
  async forget(drop: () => void): Promise<void> {
    await this.#end();
    drop();
    // The restoring that was ended has not begun it.
    if (!this.#isKeeping) this.#keep(false);
    await this.#keeper.forget();
  }

  /** Writes what is new. A restoring that was not finished leaves the file as it is. */
  async stop(): Promise<void> {
    await this.#end();
    await this.#keeper.stop();
  }

  async #end(): Promise<void> {
    this.#ended.abort();
    await this.#restored;
  }

  /** First what this process had written; behind it is the place to ask peers, whose newer answers win. */
  async #restore(setup: string): Promise<void> {
    try {
      this.#keep(await this.#restoreFile(setup));
    } catch (error) {
      if (this.#ended.signal.aborted) return;
      this.#host.log.warn('patterns cannot be restored', { error });
      this.#keep(false);
    } finally {
      this.isWarming = false;
    }
  }

  #keep(isSaved: boolean): void {
    this.#isKeeping = true;
    this.#keeper.start(this.#options.persistInterval, isSaved);
  }

  /** Whether the file holds what the store holds now. */
  async #restoreFile(setup: string): Promise<boolean> {
    const { signal } = this.#ended;
    const staged = this.#store.stage();
    const nowMs = this.#host.clock.nowMs();
    let others = 0;
    const read = await this.#file.read((names, value) => {
      if (!stageEntry(staged, { setup, nowMs }, names, value)) others += 1;
    }, signal);
    // There is none, or it was put aside.
    if (read === undefined) return this.#store.size === 0;
    const taken = await this.#store.take(staged, 'disk', new Pacer(signal));
    this.#host.log.info('patterns restored', {
      'file.path': this.#options.persistPath,
      'file.size': read.bytes,
      'patterns.entries': taken,
      'patterns.entries_of_other_options': others,
    });
    return others === 0 && taken === this.#store.size;
  }
}
