import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import type { AnswerHit, AnswerTier } from './answer-tier.js';
import { Frames } from './frame.js';
import { tenantOf } from './keys.js';
import { Patience } from './patience.js';
import { SharedGenerations, type PurgeArea } from './shared-generations.js';
import { SharedNames, tagBytes, tagOf } from './shared-names.js';
import { SharedNews, type SharedObserver } from './shared-observer.js';
import { SharedPurges, type PurgeHandlers } from './shared-purges.js';
import { StoreLink, type StoreReply } from './shared-store-link.js';
import { largestShared, leastLeftMs, SharedWrites } from './shared-writes.js';

export interface SharedStoreSettings {
  /** `redis[s]://[[user]:password@]host[:port][/database]` */
  readonly url: string;
  /** Names in the store begin so. Those who have the same one share what they keep. */
  readonly prefix: string;
  /** Known to all who share; without it whoever can write to the store can forge answers. */
  readonly secret: string | undefined;
  /** The most bytes of an answer. */
  readonly largest: number;
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
  readonly log: Logger;
  readonly observer: SharedObserver;
  readonly purge: PurgeHandlers['purge'];
  /** For tests on machines that are busy. */
  readonly patience?: Patience;
}

/** Time between two looks at the store: how long a purge by another process may go unnoticed in the memory of this one. */
const tickMs = 1_000;
/** How long the start waits for a store. */
const startMs = 1_000;
const firstRetryMs = 1_000;
const longestRetryMs = 10_000;
const maxLookUps = 1_000;

/**
 * The tier that replicas share: a Valkey or Redis behind memory and disk. Each value is a tag, which names the generations it was written
 * under, and a frame (core/cache/frame.ts). A look-up reads the generations with the value, so a purge by any process counts for all at
 * once; what other caches of this process keep is purged within a second. The store may be slow, full, gone or lie: whoever looks up
 * waits for a short time that adapts to the store, and then does without it.
 */
export class SharedStoreTier implements AnswerTier {
  readonly leastTtlMs = leastLeftMs;
  readonly #clock: SharedStoreSettings['clock'];
  readonly #observer: SharedObserver;
  readonly #news: SharedNews;
  readonly #link: StoreLink;
  readonly #frames: Frames;
  readonly #names: SharedNames;
  readonly #generations: SharedGenerations;
  readonly #patience: Patience;
  readonly #writes: SharedWrites;
  readonly #purges: SharedPurges;
  #late: ((key: string, hit: AnswerHit) => void) | undefined;
  #isUp = false;
  /** Set from the first failure until the store works again, so that one outage is one log record. */
  #isFailing = false;
  #lookUps = 0;
  #retryMs = firstRetryMs;
  #retryAtMs = -Infinity;
  #timer: NodeJS.Timeout | undefined;
  #ticking: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(settings: SharedStoreSettings) {
    const { url, prefix, secret, largest, clock, log, observer, purge } = settings;
    this.#clock = clock;
    this.#observer = observer;
    this.#link = new StoreLink({ url, lost: (failure) => this.#fail(failure) });
    this.#news = new SharedNews(observer, clock, log, this.#link.address);
    this.#frames = new Frames({ secret, largest: Math.min(largest, largestShared) });
    this.#names = new SharedNames(prefix, secret);
    this.#generations = new SharedGenerations(() => clock.nowMs());
    this.#patience = settings.patience ?? new Patience(() => clock.monotonicMs());
    const parts = [this.#names, this.#generations, clock, this.#news] as const;
    this.#writes = new SharedWrites(this.#link, this.#frames, ...parts);
    const changed = (area: PurgeArea): void => this.#writes.drop(area);
    this.#purges = new SharedPurges(this.#link, ...parts, { changed, purge });
  }

  /** Connects. A store that cannot be reached is tried again and again; the start does not wait for it. */
  async start(): Promise<void> {
    this.#observer.switched(false);
    await StoreLink.load();
    this.#timer = setInterval(() => void this.tick(), tickMs).unref();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, startMs)));
    await Promise.race([this.tick(), late]);
    clearTimeout(timer);
  }

  /** Bytes that wait to be written. */
  get waitingBytes(): number {
    return this.#writes.bytes;
  }

  /** Whether what is kept under such a key now reaches the store. */
  isReadyFor(key: string): boolean {
    return this.#isUsable(key) && this.#generations.of(tenantOf(key)) !== undefined;
  }

  /** Who gets what is found too late for the one who asked. */
  onLate(take: (key: string, hit: AnswerHit) => void): void {
    this.#late = take;
  }

  async get(key: string): Promise<AnswerHit | undefined> {
    if (!this.#isUsable(key) || this.#lookUps >= maxLookUps) return undefined;
    const fromMs = this.#clock.monotonicMs();
    this.#lookUps += 1;
    const looking = this.#lookUp(key).finally(() => (this.#lookUps -= 1));
    const reply = await this.#patience.wait(looking);
    if (reply === 'late') {
      if (this.#patience.ended(false)) this.#pause();
      this.#observer.looked(this.#clock.monotonicMs() - fromMs, undefined);
      void this.#takeLate(key, looking);
      return undefined;
    }
    if (reply !== undefined) this.#patience.ended(true);
    const hit = reply && (await this.#read(key, reply));
    // The first answer for a tenant is to be written too.
    if (this.#generations.of(tenantOf(key)) === undefined) await this.#patience.wait(this.#purges.made());
    this.#observer.looked(this.#clock.monotonicMs() - fromMs, hit?.ageMs);
    return hit;
  }

  set(key: string, packed: Buffer, ttlMs: number): void {
    if (ttlMs < leastLeftMs) return;
    if (this.#isUsable(key)) this.#writes.add(key, packed, ttlMs);
    else this.#observer.dropped('off', 1);
  }

  /** Nothing has its home here, and what has one at another process of this machine is kept here too. */
  shadowMs(): undefined {
    return undefined;
  }

  /** What cannot be deleted now goes at the end of its time. */
  delete(key: string): Promise<void> {
    this.#writes.delete(key);
    if (this.#isUp) void this.#news.attempt(() => this.#link.remove(this.#names.ofKey(key)));
    return Promise.resolve();
  }

  purge(): Promise<void> {
    return this.#purges.purge({});
  }

  purgeBeginning(prefix: string): Promise<void> {
    return this.#purges.purge({ tenant: tenantOf(prefix) });
  }

  /** What is done every second: connects, tells the store of purges, learns of those of others. */
  tick(): Promise<void> {
    this.#ticking ??= this.#tick().finally(() => (this.#ticking = undefined));
    return this.#ticking;
  }

  /** Writes what waits, as far as the store takes it at once. */
  close(): Promise<void> {
    clearInterval(this.#timer);
    this.#closing ??= this.#writes.close().finally(() => this.#link.close());
    return this.#closing;
  }

  #isUsable(key: string): boolean {
    const isOn = this.#isUp && !this.#patience.isPaused && this.#closing === undefined;
    return isOn && !this.#generations.isPending(tenantOf(key));
  }

  async #lookUp(key: string): Promise<StoreReply | undefined> {
    const fromMs = this.#clock.monotonicMs();
    const names = [{}, { tenant: tenantOf(key) }].map((area) => this.#names.ofArea(area));
    const most = tagBytes + this.#frames.largestFrame + 1;
    const reply = await this.#news.attempt(() => this.#link.lookUp(this.#names.ofKey(key), names, most));
    if (reply !== undefined) this.#patience.took(this.#clock.monotonicMs() - fromMs);
    return reply;
  }

  async #takeLate(key: string, looking: Promise<StoreReply | undefined>): Promise<void> {
    const reply = await looking;
    const hit = reply && (await this.#read(key, reply));
    if (hit !== undefined) this.#late?.(key, hit);
  }

  /** Believes nothing that the generations do not cover, or that is not what was written under this key. */
  async #read(key: string, { value, texts, leftMs }: StoreReply): Promise<AnswerHit | undefined> {
    const tenant = tenantOf(key);
    this.#purges.learn({}, texts[0]);
    this.#purges.learn({ tenant }, texts[1]);
    const generation = this.#generations.of(tenant);
    // That it has gone meanwhile is told by -2.
    if (value === undefined || generation === undefined || leftMs === -2) return undefined;
    if (!value.subarray(0, tagBytes).equals(tagOf(generation))) {
      this.#observer.dropped('purged', 1);
      return undefined;
    }
    const framed = await this.#frames.open(this.#names.bound(key, generation), value.subarray(tagBytes));
    if (typeof framed === 'string') {
      this.#observer.dropped(framed, 1);
      if (framed !== 'version')
        this.#news.warnNowAndThen(
          'an answer of the shared cache is not what was written under its key, and dropped',
          { reason: framed },
        );
      // Others may take what is too large for this process.
      if (framed === 'damaged') void this.delete(key);
      return undefined;
    }
    // A purge came meanwhile.
    if (this.#generations.of(tenant) !== generation) return undefined;
    const nowMs = this.#clock.nowMs();
    const { packed, madeMs, freshUntilMs } = framed;
    // Clocks of replicas differ: the store's own count of time decides where it says less.
    const left = Math.min(freshUntilMs - nowMs, freshUntilMs - madeMs, leftMs < 0 ? Infinity : leftMs);
    return left < leastLeftMs ? undefined : { packed, leftMs: left, ageMs: Math.max(0, nowMs - madeMs) };
  }

  async #tick(): Promise<void> {
    if (this.#closing !== undefined) return;
    const nowMs = this.#clock.monotonicMs();
    if (!this.#link.isOpen) {
      if (nowMs < this.#retryAtMs) return;
      this.#retryAtMs = nowMs + this.#retryMs;
      this.#retryMs = Math.min(longestRetryMs, 2 * this.#retryMs);
    }
    try {
      if (!this.#link.isOpen) await this.#link.connect();
      await this.#purges.send();
      const tookMs = await this.#purges.follow();
      if (this.#patience.probed(tookMs)) this.#observer.switched(true);
      this.#works();
    } catch (error) {
      this.#fail(error);
    }
    // It was closed meanwhile.
    if (this.#isClosing()) this.#link.close();
  }

  #isClosing(): boolean {
    return this.#closing !== undefined;
  }

  #fail(error: unknown): void {
    if (this.#isClosing()) return;
    this.#news.failed(error);
    this.#isUp = false;
    this.#writes.lose();
    this.#observer.switched(false);
    if (this.#isFailing) return;
    this.#isFailing = true;
    this.#news.error('shared cache failed and is off, it is tried again every few seconds', { error });
  }

  #works(): void {
    if (this.#isUp || !this.#link.isOpen) return;
    this.#isUp = true;
    this.#retryMs = firstRetryMs;
    this.#observer.switched(!this.#patience.isPaused);
    if (!this.#isFailing) return;
    this.#isFailing = false;
    this.#news.info('shared cache works again');
  }

  #pause(): void {
    this.#observer.failed('timeout');
    this.#observer.switched(false);
    this.#news.warnNowAndThen('shared cache is slow and not asked for a while');
  }
}
