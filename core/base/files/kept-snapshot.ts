import type { Logger } from '../logger.js';
import { SnapshotFile, type SnapshotFileSettings } from './snapshot-file.js';
import {
  SnapshotKeeper,
  type SnapshotObserver,
  type SnapshotSource,
  type SnapshotTurns,
} from './snapshot-keeper.js';

export interface KeptSnapshotSettings extends SnapshotFileSettings {
  readonly source: SnapshotSource;
  readonly observer: SnapshotObserver;
  /** Time between two looks whether there is something to write. */
  readonly intervalMs: number;
  /** Fills the source; resolves to whether the file holds what the source holds then. */
  readonly restore: (file: SnapshotFile, signal: AbortSignal) => Promise<boolean>;
}

/** Keeps a snapshot of a source in a file: restores it in the background at startup, and writes it from then on. */
export class KeptSnapshot {
  readonly #settings: KeptSnapshotSettings;
  readonly #log: Logger;
  readonly #file: SnapshotFile;
  readonly #keeper: SnapshotKeeper;
  /** Ends the restoring: what is read has been purged, or the process stops. */
  readonly #ended = new AbortController();
  #restored: Promise<void> | undefined;
  #isKeeping = false;
  #leave: (() => void) | undefined;
  #isWarming = false;

  constructor(settings: KeptSnapshotSettings) {
    const { source, observer, log } = settings;
    this.#settings = settings;
    this.#log = log;
    this.#file = new SnapshotFile(settings);
    this.#keeper = new SnapshotKeeper(this.#file, source, observer, log);
  }

  /**
   * Restores in the background.
   * @throws Error naming the option when the file cannot be written
   */
  async start(turns?: SnapshotTurns): Promise<void> {
    await this.#file.open();
    this.#leave = await this.#keeper.takeTurn(turns);
    this.#isWarming = true;
    this.#restored = this.#restore();
  }

  /** True while the file is being restored. */
  get isWarming(): boolean {
    return this.#isWarming;
  }

  /** Resolves when nothing is being restored any more. */
  async restored(): Promise<void> {
    await this.#restored;
  }

  /** Writes what has changed. */
  write(): Promise<void> {
    return this.#keeper.write();
  }

  /** Drops what must not come back from the file either. */
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
    this.#leave?.();
  }

  async #end(): Promise<void> {
    this.#ended.abort();
    await this.#restored;
  }

  async #restore(): Promise<void> {
    const { signal } = this.#ended;
    try {
      this.#keep(await this.#settings.restore(this.#file, signal));
    } catch (error) {
      if (signal.aborted) return;
      this.#log.warn('snapshot cannot be restored', { 'file.path': this.#settings.path, error });
      this.#keep(false);
    } finally {
      this.#isWarming = false;
    }
  }

  #keep(isSaved: boolean): void {
    this.#isKeeping = true;
    this.#keeper.start(this.#settings.intervalMs, isSaved);
  }
}
