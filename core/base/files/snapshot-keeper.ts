import type { Claims } from '../claims.js';
import type { Logger } from '../logger.js';
import type { SnapshotFile } from './snapshot-file.js';
import type { OtherMembers, WrittenEntry } from './snapshot-json.js';

/** What is kept in the file. */
export interface SnapshotSource {
  /** Another number whenever the entries have changed. */
  revision(): number;
  /** May be read while they change. Those with the same first name follow each other. */
  entries(): Iterable<WrittenEntry>;
  /** What stands beside the entries. */
  others?(): OtherMembers;
}

/** Notified of what happens, for metrics. */
export interface SnapshotObserver {
  /** @param bytes the size of the file */
  wrote(bytes: number): void;
  failed(): void;
}

/** Those who keep the same file; the last one writes it. */
export type SnapshotTurns = Claims<SnapshotKeeper>;

/** Writes a snapshot from time to time, when there is something new, and a last time in the end. */
export class SnapshotKeeper {
  readonly #file: Pick<SnapshotFile, 'write' | 'remove'>;
  readonly #source: SnapshotSource;
  readonly #observer: SnapshotObserver;
  readonly #log: Logger;
  /** What is in the file; undefined for nothing. */
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
