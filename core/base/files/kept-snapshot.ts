import type { Clock } from '../clock.js';
import { OverrideStack } from '../override-stack.js';
import { SnapshotFile, type SnapshotFileSettings } from './snapshot-file.js';
import type { OtherMembers, WrittenEntry } from './snapshot-json.js';
import { startInterval } from '../time/waits.js';

export interface KeptSnapshotSettings extends SnapshotFileSettings {
  readonly clock: Clock;
  readonly source: SnapshotSource;
  readonly observer: SnapshotObserver;
  /** Interval of the check for changes to write. */
  readonly intervalMs: number;
  /** Fills the source from the file; resolves to true if the file then holds everything that the source holds. */
  readonly restore: (file: SnapshotFile, signal: AbortSignal) => Promise<boolean>;
}

/** The contents of the snapshot. */
export interface SnapshotSource {
  /** A number that changes whenever the entries have changed. */
  revision(): number;
  /** The entries, which may change during the iteration. Entries with the same first name are adjacent. */
  entries(): Iterable<WrittenEntry>;
  /** Members of the file beside its entries. */
  others?(): OtherMembers;
}

/** Receives events, for metrics. */
export interface SnapshotObserver {
  /**
   * @param bytes the size of the file
   * @param tookMs the time to write it
   */
  wrote(bytes: number, tookMs: number): void;
  failed(): void;
}

/** The snapshots that share one file, in order of registration; only the last one writes. */
type SnapshotTurns = OverrideStack<KeptSnapshot>;

/** Values that instances of a plugin share by name. */
interface Sharing {
  shared<Value>(name: string, make: () => Value): Value;
}

/** The turns at one snapshot file: after a reload, two instances of a plugin may share it for a while. */
export function snapshotTurns(path: string, host: Sharing): SnapshotTurns {
  return host.shared(`snapshot file ${path}`, () => new OverrideStack<KeptSnapshot>());
}

/**
 * Keeps a snapshot of a source in a file: restores it in the background at startup, then writes it periodically when the source has
 * changed, and once more on stop.
 */
export class KeptSnapshot {
  readonly #settings: KeptSnapshotSettings;
  readonly #file: SnapshotFile;
  /** Aborts the restore on a purge or when the process stops. */
  readonly #ended = new AbortController();
  #restored: Promise<void> | undefined;
  #isWarming = false;
  #turns: SnapshotTurns | undefined;
  #leave: (() => void) | undefined;
  /** Set once the restore has ended: changes are written from then on. */
  #timer: NodeJS.Timeout | undefined;
  /** Revision that the file holds; undefined when the file does not match any. */
  #revision: number | undefined;
  #writing: Promise<void> | undefined;
  /** Set while writes fail, so that an outage is logged once. */
  #isFailing = false;

  constructor(settings: KeptSnapshotSettings) {
    this.#settings = settings;
    this.#file = new SnapshotFile(settings);
  }

  /**
   * Takes over the file, after its current snapshot has been written, and starts the restore in the background.
   * @throws Error naming the option when the file cannot be written
   */
  async start(turns?: SnapshotTurns): Promise<void> {
    await this.#file.open();
    await turns?.current?.write();
    this.#turns = turns;
    this.#leave = turns?.claim(this);
    this.#isWarming = true;
    this.#restored = this.#restore();
  }

  /** True while the file is being restored. */
  get isWarming(): boolean {
    return this.#isWarming;
  }

  /** Resolves when no restore is running. */
  async restored(): Promise<void> {
    await this.#restored;
  }

  /** Writes changes since the last write. Does nothing before the end of the restore, so that a file that is being read is not overwritten. */
  async write(): Promise<void> {
    const { source } = this.#settings;
    if (this.#timer === undefined || !this.#isItsTurn || this.#revision === source.revision()) return;
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
    await this.#writing;
  }

  /**
   * Drops entries from the source and removes the file, even when it cannot be written, so that a restart does not restore them. The next
   * write contains the remaining entries.
   */
  async forget(drop: () => void): Promise<void> {
    await this.#end();
    drop();
    await this.#writing;
    this.#keep(false);
    if (this.#isItsTurn) await this.#file.remove();
  }

  /** Writes pending changes and stops. After an unfinished restore the file stays as it is. */
  async stop(): Promise<void> {
    await this.#end();
    clearInterval(this.#timer);
    await this.#writing;
    await this.write();
    this.#leave?.();
  }

  get #isItsTurn(): boolean {
    return this.#turns === undefined || this.#turns.current === this;
  }

  async #end(): Promise<void> {
    this.#ended.abort();
    await this.#restored;
  }

  async #restore(): Promise<void> {
    const { log, path, restore } = this.#settings;
    const { signal } = this.#ended;
    try {
      this.#keep(await restore(this.#file, signal));
    } catch (error) {
      if (signal.aborted) return;
      log.warn('cannot restore the snapshot', { 'file.path': path, error });
      this.#keep(false);
    } finally {
      this.#isWarming = false;
    }
  }

  /** Writes changes from now on. */
  #keep(isSaved: boolean): void {
    const { source, intervalMs } = this.#settings;
    this.#revision = isSaved ? source.revision() : undefined;
    this.#timer ??= startInterval(() => void this.write(), intervalMs).unref();
  }

  async #write(): Promise<void> {
    const { source, observer, clock, log } = this.#settings;
    const revision = source.revision();
    const startMs = clock.monotonicMs();
    try {
      const bytes = await this.#file.write(source.entries(), source.others?.());
      observer.wrote(bytes, clock.monotonicMs() - startMs);
      this.#revision = revision;
      if (this.#isFailing) log.info('snapshot is written again after failures');
      this.#isFailing = false;
    } catch (error) {
      observer.failed();
      if (!this.#isFailing)
        log.warn('cannot write the snapshot; new entries are lost on a restart', { error });
      this.#isFailing = true;
    }
  }
}
