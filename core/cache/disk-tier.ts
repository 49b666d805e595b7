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
import { DiskSpace, type DiskTierSettings } from './disk-space.js';
import { WriteBuffer, type Waiting } from './write-buffer.js';
import { startInterval } from '../base/time/waits.js';

/** A slower read turns the tier off: the backend is faster then. */
const slowReadMs = 1_000;
const tooSlow = (): Error => new Error(`a read took longer than ${slowReadMs} ms`);
/** Pause before a failed disk is tried again. */
const retryMs = 60_000;
/** Minimum time between two rounds of maintenance. */
const maintenanceMs = 1_000;

/**
 * The disk tier of the cache (L2): a write buffer in memory and a database file. Any failure of the file turns off only this tier, which
 * retries later.
 */
export class DiskTier implements AnswerTier {
  readonly #settings: DiskTierSettings;
  readonly #open: (path: string, isFresh: boolean) => Promise<DiskStore>;
  readonly #buffer: WriteBuffer;
  /** The open file; undefined while the tier is off. */
  #file: DiskSpace | undefined;
  /** Queue of operations on the file; reads bypass it. */
  #work: Promise<void> = Promise.resolve();
  #flushIsQueued = false;
  #purgeIsQueued = false;
  #timer: NodeJS.Timeout | undefined;
  #retryAtMs = 0;
  #maintainAtMs = 0;
  /** Running purges by key prefix: the keys they drop are not read any more. */
  readonly #purges = new Set<{ readonly prefix: string }>();
  /** Set from a purge until the file has been replaced: nothing may be read from it meanwhile. */
  #isToBeEmptied = false;
  /** Set while the disk fails, so that an outage is logged once. */
  #isFailing = false;
  #isClosed = false;

  private constructor(settings: DiskTierSettings) {
    this.#settings = settings;
    this.#open = settings.open ?? openDiskFile;
    this.#buffer = new WriteBuffer(settings.largest);
  }

  /** Opens the file. A failing disk turns the tier off; an unusable path throws an error with the reason. */
  static async open(settings: DiskTierSettings): Promise<DiskTier> {
    const tier = new DiskTier(settings);
    const { diskCachePath, diskCacheFlushInterval } = settings.options;
    try {
      await tier.#start();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (!isOfTheDisk(error))
        throw new Error(`-disk-cache-path: cannot use ${diskCachePath}: ${reason}`, { cause: error });
      settings.observer.failed();
      tier.#turnOff(error);
    }
    tier.#timer = startInterval(() => void tier.tick(), diskCacheFlushInterval).unref();
    return tier;
  }

  /** True once the file is closed for good, for example because another tier has taken over the path. */
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

  /** Buffers a value for the next flush. */
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

  /** Writes the buffered values. */
  flush(): Promise<void> {
    if (this.#flushIsQueued) return this.#work;
    this.#flushIsQueued = true;
    this.#work = this.#work.then(() => {
      // Values added from now on need another flush.
      this.#flushIsQueued = false;
    });
    return this.#queue((file) => this.#flush(file));
  }

  /** Periodic work: flushes, drops expired rows, returns free space, retries a failed disk. */
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

  /** Drops all values whose keys begin with the prefix. If that fails, the whole file is emptied before it is used again. */
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

  /** Empties the tier by replacing the file, because deleting all rows of a large one is slow. */
  purge(): Promise<void> {
    this.#isToBeEmptied = true;
    this.#buffer.clear();
    // Plugins that share the store all purge it: the file is already gone after the first call.
    if (this.#purgeIsQueued) return this.#work;
    this.#purgeIsQueued = true;
    const file = this.#file;
    this.#file = undefined;
    this.#work = this.#work.then(async () => {
      this.#purgeIsQueued = false;
      await file?.close();
      // An earlier purge may have opened a file meanwhile.
      await this.#file?.close();
      this.#file = undefined;
      if (!this.#isClosed) await this.#tryStart();
    });
    return this.#work;
  }

  /** Writes the buffered values and closes the file. */
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
    // Files of other programs are all kept; of our own unusable files the latest one is enough.
    const suffix = error.defect === 'foreign' ? `.foreign-${clock.nowMs()}` : '.unusable';
    await moveDatabase(options.diskCachePath, options.diskCachePath + suffix);
    log.warn('disk cache file moved aside, starting with an empty one', {
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
    // A purge has begun meanwhile.
    if (this.#file !== file || this.#isBeingPurged(key)) return undefined;
    if (packed !== undefined) return this.#hitOf({ ...row, packed });
    this.#settings.observer.dropped('damaged', 1);
    this.#settings.log.warn('dropped a damaged entry of the disk cache');
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
    // A row from the future: the clock was set back, so its age is unknown.
    return nowMs < writtenMs || leftMs <= -this.#settings.keepExpiredMs
      ? undefined
      : { packed, leftMs, ageMs: nowMs - writtenMs };
  }

  async #flush(file: DiskSpace): Promise<void> {
    const { observer } = this.#settings;
    if (this.#buffer.size === 0) return;
    // Values added meanwhile are left to the next flush, so that this one ends.
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

  /** Runs work after all earlier work. An error closes the file. */
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
      // Not awaited: a hanging disk would block the queue.
      void file.close();
    }
  }

  /** Opens the file, or replaces it if it is known to be unusable. */
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
    log.error('disk cache failed and is turned off; the proxy retries every minute', {
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

  /** Only a successful write proves that the disk works again; opening the file does not. */
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

/** Tells whether the error is a temporary failure of the disk, as opposed to an unusable path. */
function isOfTheDisk(error: unknown): boolean {
  return error instanceof Error && 'code' in error && codesOfTheDisk.has(String(error.code));
}
