import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import { within } from '../base/time/within.js';
import type { AnswerHit, AnswerTier } from './answer-tier.js';
import { isDamage } from './disk-engine/engine.js';
import {
  moveDatabase,
  openDiskFile,
  UnusableFile,
  type DiskRow,
  type DiskStore,
  unsealed,
} from './disk-file.js';
import { DiskSpace, type DiskObserver, type DiskSpaceOptions } from './disk-space.js';
import { WriteBuffer, type Waiting } from './write-buffer.js';

export interface DiskTierOptions extends DiskSpaceOptions {
  readonly diskCachePath: string;
  readonly diskCacheFlushSize: number;
  readonly diskCacheFlushInterval: number;
  readonly diskCacheMinTtl: number;
}

export interface DiskTierSettings {
  readonly options: DiskTierOptions;
  /** The most bytes of a value. */
  readonly largest: number;
  /** How long answers are kept after they have expired. */
  readonly keepExpiredMs: number;
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
  readonly log: Logger;
  readonly observer: DiskObserver;
  /** For tests of disks that fail. */
  readonly open?: (path: string, isFresh: boolean) => Promise<DiskStore>;
}

/** A read that takes longer turns the tier off: to ask the backend is the better way then. */
const slowReadMs = 1_000;
const tooSlow = (): Error => new Error(`a read took longer than ${slowReadMs} ms`);
/** A disk that failed is tried again after this time. */
const retryMs = 60_000;
/** Least time between two rounds of maintenance. */
const maintenanceMs = 1_000;

/**
 * The cache tier on disk (L2): a write buffer in memory and a database file. Whatever goes wrong with the file turns this tier off and
 * nothing else; it is tried again later.
 */
export class DiskTier implements AnswerTier {
  readonly #settings: DiskTierSettings;
  readonly #open: (path: string, isFresh: boolean) => Promise<DiskStore>;
  readonly #buffer: WriteBuffer;
  /** The open file; undefined while the tier is off. */
  #file: DiskSpace | undefined;
  /** Work on the file, one after the other; reads do not wait for it. */
  #work: Promise<void> = Promise.resolve();
  #flushIsQueued = false;
  #purgeIsQueued = false;
  #timer: NodeJS.Timeout | undefined;
  #retryAtMs = 0;
  #maintainAtMs = 0;
  /** Purges by the beginning of keys that run: what they drop is not read meanwhile. */
  readonly #purges = new Set<{ readonly prefix: string }>();
  /** Set from a purge until the file is gone: while it is there, nothing may be read from it. */
  #isToBeEmptied = false;
  /** Set while the disk fails, so that one outage is one log record. */
  #isFailing = false;
  #isClosed = false;

  private constructor(settings: DiskTierSettings) {
    this.#settings = settings;
    this.#open = settings.open ?? openDiskFile;
    this.#buffer = new WriteBuffer(settings.largest);
  }

  /** Opens the file. A disk that fails turns the tier off; an error says why the path is none that could be used. */
  static async open(settings: DiskTierSettings): Promise<DiskTier> {
    const tier = new DiskTier(settings);
    const { diskCachePath, diskCacheFlushInterval } = settings.options;
    try {
      await tier.#start();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (!isOfTheDisk(error))
        throw new Error(`-disk-cache-path: ${diskCachePath} cannot be used: ${reason}`, { cause: error });
      settings.observer.failed();
      tier.#turnOff(error);
    }
    tier.#timer = setInterval(() => void tier.tick(), diskCacheFlushInterval).unref();
    return tier;
  }

  /** Its file is closed for good, such as for another tier that took the same path. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  get leastTtlMs(): number {
    return this.#settings.options.diskCacheMinTtl;
  }

  async get(key: string): Promise<AnswerHit | undefined> {
    const file = this.#file;
    if (file === undefined || this.#isBeingPurged(key)) return undefined;
    const waiting = this.#buffer.get(key);
    const hit = waiting === undefined ? await this.#read(file, key) : this.#hitOf(waiting);
    this.#settings.observer.looked(hit !== undefined && hit.leftMs > 0 ? hit.ageMs : undefined);
    return hit;
  }

  /** Takes a value for the next flush. */
  set(key: string, packed: Buffer, ttlMs: number): void {
    const { options, clock, observer } = this.#settings;
    if (this.#file === undefined || ttlMs < options.diskCacheMinTtl) return;
    const writtenMs = clock.nowMs();
    if (!this.#buffer.add({ key, packed, writtenMs, expiresMs: Math.round(writtenMs + ttlMs) })) {
      observer.dropped('refused', 1);
      return;
    }
    if (this.#buffer.isDue(options.diskCacheFlushSize)) void this.flush();
  }

  /** Writes what waits. */
  flush(): Promise<void> {
    if (this.#flushIsQueued) return this.#work;
    this.#flushIsQueued = true;
    this.#work = this.#work.then(() => {
      // What comes from now on needs another one.
      this.#flushIsQueued = false;
    });
    return this.#queue((file) => this.#flush(file));
  }

  /** What is done once in a while: writes, drops what has expired, gives space back, tries a failed disk again. */
  async tick(): Promise<void> {
    const nowMs = this.#settings.clock.monotonicMs();
    if (this.#file === undefined) return this.#retry(nowMs);
    await this.flush();
    if (nowMs < this.#maintainAtMs) return;
    this.#maintainAtMs = nowMs + maintenanceMs;
    await this.#queue((file) => file.maintain());
  }

  async delete(key: string): Promise<void> {
    this.#buffer.delete(key);
    await this.#queue((file) => file.remove(key));
  }

  /** Drops what has a key that begins so. Where that fails, everything is dropped before the file is used again. */
  async purgeBeginning(prefix: string): Promise<void> {
    this.#buffer.deleteBeginning(prefix);
    if (this.#file === undefined) {
      this.#isToBeEmptied = true;
      return;
    }
    const purge = { prefix };
    this.#purges.add(purge);
    await this.#queue(async (file) => {
      try {
        await file.removeBeginning(prefix);
      } catch (error) {
        this.#isToBeEmptied = true;
        throw error;
      }
    });
    this.#purges.delete(purge);
  }

  /** Empties the tier by beginning a new file: to drop the rows of a large one would take long. */
  purge(): Promise<void> {
    this.#isToBeEmptied = true;
    this.#buffer.clear();
    // Several plugins purge the store they share: there is no file from the first call on.
    if (this.#purgeIsQueued) return this.#work;
    this.#purgeIsQueued = true;
    const file = this.#file;
    this.#file = undefined;
    this.#work = this.#work.then(async () => {
      this.#purgeIsQueued = false;
      await file?.close();
      // A purge before this one was opening it.
      await this.#file?.close();
      this.#file = undefined;
      if (!this.#isClosed) await this.#tryStart();
    });
    return this.#work;
  }

  /** Writes what waits and closes the file. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#queue((file) => {
      this.#file = undefined;
      return file.close();
    });
  }

  async #start(): Promise<void> {
    const { diskCachePath: path } = this.#settings.options;
    const isFresh = this.#isToBeEmptied;
    this.#isToBeEmptied = false;
    try {
      this.#file = await DiskSpace.of(await this.#openUsable(path, isFresh), this.#settings);
    } catch (error) {
      this.#isToBeEmptied ||= isFresh;
      throw error;
    }
    this.#settings.observer.switched(true);
  }

  async #openUsable(path: string, isFresh: boolean): Promise<DiskStore> {
    try {
      return await this.#open(path, isFresh);
    } catch (error) {
      if (!(error instanceof UnusableFile)) throw error;
      await this.#putAside(error);
      return this.#open(path, isFresh);
    }
  }

  async #putAside(error: UnusableFile): Promise<void> {
    const { options, log, clock } = this.#settings;
    // What belongs to somebody else is never overwritten; of our own files one is enough.
    const suffix = error.defect === 'foreign' ? `.foreign-${clock.nowMs()}` : '.unusable';
    await moveDatabase(options.diskCachePath, options.diskCachePath + suffix);
    log.warn('disk cache file put aside, a new one is begun', {
      'file.path': options.diskCachePath,
      'file.moved_to': options.diskCachePath + suffix,
      reason: error.defect,
      ...(error.cause === undefined ? {} : { error: error.cause }),
    });
  }

  async #read(file: DiskSpace, key: string): Promise<AnswerHit | undefined> {
    let row: DiskRow | undefined;
    try {
      row = await within(slowReadMs, file.read(key), tooSlow);
    } catch (error) {
      this.#work = this.#work.then(() => this.#fail(file, error));
      return undefined;
    }
    if (row === undefined) return undefined;
    const packed = await unsealed(key, row, this.#settings.largest);
    // A purge came meanwhile.
    if (this.#file !== file || this.#isBeingPurged(key)) return undefined;
    if (packed !== undefined) return this.#hitOf({ ...row, packed });
    this.#settings.observer.dropped('damaged', 1);
    this.#settings.log.warn('an answer of the disk cache is damaged and dropped');
    void this.delete(key);
    return undefined;
  }

  #isBeingPurged(key: string): boolean {
    for (const { prefix } of this.#purges) if (key.startsWith(prefix)) return true;
    return false;
  }

  #hitOf({ packed, writtenMs, expiresMs }: Omit<Waiting, 'key'>): AnswerHit | undefined {
    const nowMs = this.#settings.clock.nowMs();
    const leftMs = expiresMs - nowMs;
    // Written in the future: the clock was set back, so nobody knows how old it is.
    return nowMs < writtenMs || leftMs <= -this.#settings.keepExpiredMs
      ? undefined
      : { packed, leftMs, ageMs: nowMs - writtenMs };
  }

  async #flush(file: DiskSpace): Promise<void> {
    const { observer } = this.#settings;
    if (this.#buffer.size === 0) return;
    // What is added meanwhile waits for the next flush, so that this one ends.
    for (let left = this.#buffer.size; left > 0 && this.#buffer.size > 0;) {
      const batch = this.#buffer.take();
      left -= batch.length;
      try {
        await file.write(batch);
      } catch (error) {
        observer.dropped('lost', batch.length);
        throw error;
      } finally {
        this.#buffer.done();
      }
    }
    observer.flushed();
    this.#recovered();
  }

  /** Runs after all earlier work; what fails decides about the file. */
  #queue(work: (file: DiskSpace) => Promise<void>): Promise<void> {
    this.#work = this.#work.then(async () => {
      const file = this.#file;
      if (file === undefined) return;
      try {
        await work(file);
      } catch (error) {
        await this.#fail(file, error);
      }
    });
    return this.#work;
  }

  async #fail(file: DiskSpace, error: unknown): Promise<void> {
    if (this.#file !== file) return;
    this.#file = undefined;
    this.#settings.observer.failed();
    if (isDamage(error)) {
      await file.close();
      await this.#tryStart(new UnusableFile('damaged', error));
    } else {
      this.#turnOff(error);
      // A disk that hangs would hold up everything behind it.
      void file.close();
    }
  }

  /** Opens the file, or a new one where it is known to be unusable. */
  async #tryStart(unusable?: UnusableFile): Promise<void> {
    try {
      if (unusable !== undefined) await this.#putAside(unusable);
      await this.#start();
    } catch (error) {
      this.#settings.observer.failed();
      this.#turnOff(error);
    }
  }

  #turnOff(error: unknown): void {
    const { clock, log, observer, options } = this.#settings;
    this.#retryAtMs = clock.monotonicMs() + retryMs;
    const lost = this.#buffer.size;
    this.#buffer.clear();
    if (lost > 0) observer.dropped('lost', lost);
    observer.switched(false);
    if (this.#isFailing) return;
    this.#isFailing = true;
    log.error('disk cache failed and is off, it is tried again every minute', {
      'file.path': options.diskCachePath,
      error,
    });
  }

  #retry(nowMs: number): Promise<void> {
    if (this.#isClosed || nowMs < this.#retryAtMs) return this.#work;
    this.#retryAtMs = nowMs + retryMs;
    this.#work = this.#work.then(async () => {
      if (this.#file === undefined && !this.#isClosed) await this.#tryStart();
    });
    return this.#work;
  }

  /** A write has worked, which opening the file does not prove. */
  #recovered(): void {
    if (!this.#isFailing) return;
    this.#isFailing = false;
    this.#settings.log.info('disk cache works again', { 'file.path': this.#settings.options.diskCachePath });
  }
}

const codesOfTheDisk = new Set([
  'EROFS',
  'ENOSPC',
  'EDQUOT',
  'EIO',
  'SQLITE_READONLY',
  'SQLITE_FULL',
  'SQLITE_IOERR',
  'SQLITE_BUSY',
]);

/** Whether the file cannot be written now, which says nothing about the path. */
function isOfTheDisk(error: unknown): boolean {
  return error instanceof Error && 'code' in error && codesOfTheDisk.has(String(error.code));
}
