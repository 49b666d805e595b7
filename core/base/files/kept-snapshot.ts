import { OverrideStack } from '../override-stack.js';
import type { Logger } from '../logger.js';
import { SnapshotFile, type SnapshotFileSettings } from './snapshot-file.js';
import type { OtherMembers, WrittenEntry } from './snapshot-json.js';

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

/** Values that instances of a plugin share by name. */
interface Sharing {
  shared<Value>(name: string, make: () => Value): Value;
}

/** Whose turn it is to write a snapshot file: after a reload two instances of a plugin may have the same one for a while. */
export function snapshotTurns(path: string, host: Sharing): SnapshotTurns {
  return host.shared(`snapshot file ${path}`, () => new OverrideStack<SnapshotKeeper>());
}

/** Contents of the file. */
export interface SnapshotSource {
  /** Another number whenever the entries have changed. */
  revision(): number;
  /** May be read while they change. Those with the same first name follow each other. */
  entries(): Iterable<WrittenEntry>;
  /** Fields of the file beside its entries. */
  others?(): OtherMembers;
}

/** Notified of what happens, for metrics. */
export interface SnapshotObserver {
  /** @param bytes the size of the file */
  wrote(bytes: number): void;
  failed(): void;
}

/** Those who keep the same file; the last one writes it. */
export type SnapshotTurns = OverrideStack<SnapshotKeeper>;

/** Writes a snapshot from time to time, when there is something new, and a last time in the end. */
export class SnapshotKeeper {
  readonly #file: Pick<SnapshotFile, 'write' | 'remove'>;
  readonly #source: SnapshotSource;
  readonly #observer: SnapshotObserver;
  readonly #log: Logger;
  /** The contents to write; undefined for none. */
  #revision: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  /** Set while writing fails, so that one outage is one log record. */
  #isFailing = false;
  #turns: SnapshotTurns | undefined;

  constructor(
    file: Pick<SnapshotFile, 'write' | 'remove'>,
    source: SnapshotSource,
    observer: SnapshotObserver,
    log: Logger,
  ) {
    this.#file = file;
    this.#source = source;
    this.#observer = observer;
    this.#log = log;
    this.#revision = source.revision();
  }

  /**
   * Begins.
   * @param isSaved whether the file holds what the source holds now
   */
  start(intervalMs: number, isSaved = true): void {
    this.#revision = isSaved ? this.#source.revision() : undefined;
    this.#timer = setInterval(() => void this.write(), intervalMs).unref();
  }

  /** From now on this one writes the file, of which the one before writes what it has. Returns what gives the turn back. */
  async takeTurn(turns: SnapshotTurns | undefined): Promise<() => void> {
    await turns?.current?.write();
    this.#turns = turns;
    return turns?.claim(this) ?? ((): void => undefined);
  }

  /** Writes what has changed since the last time; does nothing before `start`, so that a snapshot that is still being read stays. */
  async write(): Promise<void> {
    if (this.#timer === undefined || !this.#isItsTurn || this.#revision === this.#source.revision()) return;
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
    await this.#writing;
  }

  /**
   * Something was taken out of the source that must not come back: the file goes, also where nothing can be written, and what is left in
   * the source is written next time.
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
    try {
      this.#observer.wrote(await this.#file.write(this.#source.entries(), this.#source.others?.()));
      this.#revision = revision;
      if (this.#isFailing) this.#log.info('snapshot is written again');
      this.#isFailing = false;
    } catch (error) {
      this.#observer.failed();
      if (!this.#isFailing)
        this.#log.warn('snapshot cannot be written, what is new is lost on a restart', { error });
      this.#isFailing = true;
    }
  }
}
