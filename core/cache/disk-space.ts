import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import { type DropReason, largestEntryDivisor } from '../base/memory/byte-lru.js';
import type { PeerCacheOptions } from '../base/options.gen.js';
import { type DiskRow, type DiskStore, sealed } from './disk-file.js';
import type { Waiting } from './write-buffer.js';

export type DiskTierOptions = Pick<
  PeerCacheOptions,
  | 'diskCachePath'
  | 'diskCacheCompress'
  | 'diskCacheFlushInterval'
  | 'diskCacheFlushSize'
  | 'diskCacheMaxBytes'
  | 'diskCacheMinTtl'
>;

/** Receives events, for metrics. */
export interface DiskObserver {
  /** @param ageMs age of a fresh hit; undefined for a miss */
  looked(ageMs: number | undefined): void;
  /** `damaged`: verification failed. `lost`: the value could not be written. */
  dropped(reason: DropReason | 'damaged' | 'lost', count: number): void;
  resized(entries: number, bytes: number): void;
  flushed(): void;
  failed(): void;
  /** Called when the tier is turned on or off. */
  switched(isOn: boolean): void;
}

export interface DiskTierSettings {
  readonly options: DiskTierOptions;
  /** Maximum size of a value. */
  readonly largest: number;
  /** Milliseconds for which expired answers are kept. */
  readonly keepExpiredMs: number;
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
  readonly log: Logger;
  readonly observer: DiskObserver;
  /** For tests of disks that fail. */
  readonly open?: (path: string, isFresh: boolean) => Promise<DiskStore>;
}

/** Maximum number of rows dropped by one statement. */
const dropStep = 128;
/** Statements of one round of maintenance. */
const stepsPerRound = 16;
/** Pages returned to the system in one step: a megabyte. */
const shrinkStep = 256;
/** One page in this many may stay unused, as a reserve. */
const sparePages = 8;
const usualPageBytes = 4096;

/** An open file and the space in it, which is made available for writes and returned in small steps. */
export class DiskSpace {
  readonly #store: DiskStore;
  readonly #settings: DiskTierSettings;
  #entries: number;

  private constructor(store: DiskStore, settings: DiskTierSettings, entries: number) {
    this.#store = store;
    this.#settings = settings;
    this.#entries = entries;
  }

  static async of(store: DiskStore, settings: DiskTierSettings): Promise<DiskSpace> {
    const space = new DiskSpace(store, settings, await store.count());
    await space.#measure();
    return space;
  }

  /** Writes a batch of buffered values. */
  async write(batch: readonly Waiting[]): Promise<void> {
    const { options, clock, observer } = this.#settings;
    const alive = batch.filter(({ expiresMs }) => expiresMs > clock.nowMs());
    if (alive.length < batch.length) observer.dropped('expired', batch.length - alive.length);
    const rows: DiskRow[] = [];
    for (const { packed, ...row } of alive) {
      const written = await sealed(row, packed, options.diskCacheCompress);
      if (bytesOf(written) <= this.#largestRow()) rows.push(written);
    }
    if (rows.length < alive.length) observer.dropped('refused', alive.length - rows.length);
    if (rows.length === 0) return;
    await this.#makeRoom(rows.reduce((sum, row) => sum + bytesOf(row), 0));
    this.#entries += rows.length - (await this.#store.write(rows));
    await this.#measure();
  }

  read(key: string): Promise<DiskRow | undefined> {
    return this.#store.read(key);
  }

  async remove(key: string): Promise<void> {
    this.#entries -= await this.#store.remove(key);
    await this.#measure();
  }

  async removeBeginning(prefix: string): Promise<void> {
    for (let count = dropStep; count === dropStep;) {
      count = await this.#store.removeBeginning(prefix, dropStep);
      this.#entries -= count;
    }
    await this.#measure();
  }

  /** Drops expired rows and returns pages to the system, a bounded number of each. */
  async maintain(): Promise<void> {
    const { clock, keepExpiredMs, observer } = this.#settings;
    const beforeMs = clock.nowMs() - keepExpiredMs;
    for (let step = 0, count = dropStep; step < stepsPerRound && count === dropStep; step += 1) {
      count = await this.#store.dropExpired(beforeMs, dropStep);
      this.#entries -= count;
      if (count > 0) observer.dropped('expired', count);
    }
    for (let step = 0; step < stepsPerRound; step += 1) {
      const { pages, freePages } = await this.#store.size();
      if (freePages <= pages / sparePages) break;
      await this.#store.shrink(shrinkStep);
    }
    await this.#measure();
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  async #makeRoom(bytes: number): Promise<void> {
    const { diskCacheMaxBytes } = this.#settings.options;
    while (diskCacheMaxBytes > 0) {
      const { pages, freePages, pageBytes } = await this.#store.size();
      const over = (pages - freePages) * pageBytes + bytes - diskCacheMaxBytes;
      if (over <= 0) return;
      const count = await this.#store.dropOldest(over, dropStep);
      if (count === 0) return;
      this.#entries -= count;
      this.#settings.observer.dropped('evicted', count);
    }
  }

  /** As in memory, one answer must not evict all others. */
  #largestRow(): number {
    const { diskCacheMaxBytes } = this.#settings.options;
    return diskCacheMaxBytes > 0 ? diskCacheMaxBytes / largestEntryDivisor : Infinity;
  }

  async #measure(): Promise<void> {
    const { pages, pageBytes } = await this.#store.size();
    this.#settings.observer.resized(this.#entries, pages * pageBytes);
  }
}

/** Whole pages for the value, and one for the rest of the row. */
function bytesOf({ value, key }: DiskRow): number {
  return (Math.ceil((value.byteLength + 2 * key.length) / usualPageBytes) + 1) * usualPageBytes;
}
