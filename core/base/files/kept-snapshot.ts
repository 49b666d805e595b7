import type { Clock } from '../clock.js';
import { OverrideStack } from '../override-stack.js';
import type { Logger } from '../logger.js';
import { SnapshotFile, type SnapshotFileSettings } from './snapshot-file.js';
import type { OtherMembers, WrittenEntry } from './snapshot-json.js';

export interface KeptSnapshotSettings extends SnapshotFileSettings {
  readonly clock: Clock;
  readonly source: SnapshotSource;
  readonly observer: SnapshotObserver;
  /** Interval of the check for changes to write. */
  readonly intervalMs: number;
  /** Fills the source from the file; resolves to true if the file then holds everything that the source holds. */
  readonly restore: (file: SnapshotFile, signal: AbortSignal) => Promise<boolean>;
}

/** Keeps a snapshot of a source in a file: restores it in the background at startup, then writes it periodically. */
export class KeptSnapshot {
  readonly #settings: KeptSnapshotSettings;
  readonly #log: Logger;
  readonly #file: SnapshotFile;
  readonly #keeper: SnapshotKeeper;
  /** Aborts the restore on a purge or when the process stops. */
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
    this.#keeper = new SnapshotKeeper(this.#file, source, observer, settings);
  }

  /**
   * Starts the restore in the background.
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

  /** Resolves when no restore is running. */
  async restored(): Promise<void> {
    await this.#restored;
  }

  /** Writes pending changes. */
  write(): Promise<void> {
    return this.#keeper.write();
  }

  /** Drops entries from the source and removes the file, so that a restart does not restore them. */
  async forget(drop: () => void): Promise<void> {
    await this.#end();
    drop();
    // The aborted restore has not started the keeper.
    if (!this.#isKeeping) this.#keep(false);
    await this.#keeper.forget();
  }

  /** Writes pending changes and stops. After an unfinished restore the file stays as it is. */
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
      this.#log.warn('cannot restore the snapshot', { 'file.path': this.#settings.path, error });
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

/** Values that instances of a plugin share by name. */
interface Sharing {
  shared<Value>(name: string, make: () => Value): Value;
}

/** The turns of all keepers of one snapshot file: after a reload, two instances of a plugin may share it for a while. */
export function snapshotTurns(path: string, host: Sharing): SnapshotTurns {
  return host.shared(`snapshot file ${path}`, () => new OverrideStack<SnapshotKeeper>());
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

/** The keepers of one file, in order of registration; only the last one writes. */
export type SnapshotTurns = OverrideStack<SnapshotKeeper>;

/** Writes a snapshot periodically when its source has changed, and once more on stop. */
export class SnapshotKeeper {
  readonly #file: Pick<SnapshotFile, 'write' | 'remove'>;
  readonly #source: SnapshotSource;
  readonly #observer: SnapshotObserver;
  readonly #log: Logger;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** Revision that the file holds; undefined when the file does not match any. */
  #revision: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  /** Set while writes fail, so that an outage is logged once. */
  #isFailing = false;
  #turns: SnapshotTurns | undefined;

  constructor(
    file: Pick<SnapshotFile, 'write' | 'remove'>,
    source: SnapshotSource,
    observer: SnapshotObserver,
    { log, clock }: { readonly log: Logger; readonly clock: Pick<Clock, 'monotonicMs'> },
  ) {
    this.#file = file;
    this.#source = source;
    this.#observer = observer;
    this.#log = log;
    this.#clock = clock;
    this.#revision = source.revision();
  }

  /**
   * Starts the periodic writes.
   * @param isSaved true if the file already holds everything that the source holds
   */
  start(intervalMs: number, isSaved = true): void {
    this.#revision = isSaved ? this.#source.revision() : undefined;
    this.#timer = setInterval(() => void this.write(), intervalMs).unref();
  }

  /** Takes over the file after the current keeper has written its changes. The returned function gives the file back. */
  async takeTurn(turns: SnapshotTurns | undefined): Promise<() => void> {
    await turns?.current?.write();
    this.#turns = turns;
    return turns?.claim(this) ?? ((): void => undefined);
  }

  /** Writes changes since the last write. Does nothing before `start`, so that a file that is still being read is not overwritten. */
  async write(): Promise<void> {
    if (this.#timer === undefined || !this.#isItsTurn || this.#revision === this.#source.revision()) return;
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
    await this.#writing;
  }

  /**
   * Called after entries were dropped that must not come back: removes the file, even when it cannot be written. The next write contains
   * the remaining entries.
   */
  async forget(): Promise<void> {
    await this.#writing;
    this.#revision = undefined;
    if (this.#isItsTurn) await this.#file.remove();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#writing;
    await this.write();
    this.#timer = undefined;
  }

  get #isItsTurn(): boolean {
    return this.#turns === undefined || this.#turns.current === this;
  }

  async #write(): Promise<void> {
    const revision = this.#source.revision();
    const startMs = this.#clock.monotonicMs();
    try {
      const bytes = await this.#file.write(this.#source.entries(), this.#source.others?.());
      this.#observer.wrote(bytes, this.#clock.monotonicMs() - startMs);
      this.#revision = revision;
      if (this.#isFailing) this.#log.info('snapshot is written again after failures');
      this.#isFailing = false;
    } catch (error) {
      this.#observer.failed();
      if (!this.#isFailing)
        this.#log.warn('cannot write the snapshot; new entries are lost on a restart', { error });
      this.#isFailing = true;
    }
  }
}
