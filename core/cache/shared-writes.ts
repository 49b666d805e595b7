import type { Clock } from '../base/clock.js';
import type { Frames } from './frame.js';
import { tenantOf } from './keys.js';
import type { PurgeArea, SharedGenerations } from './shared-generations.js';
import { tagOf, type SharedNames } from './shared-names.js';
import type { SharedNews } from './shared-observer.js';
import type { StoreLink } from './shared-store-link.js';
import { WriteBuffer, type Waiting } from './write-buffer.js';

/** The most bytes of an answer in the store. */
export const largestShared = 8 * 1024 * 1024;
/** With less time left an answer is not worth the way. */
export const leastLeftMs = 5_000;
/** A store that takes no answers is asked to take one after this time. */
const fullMs = 5_000;
const maxWaiting = 1_000;

/** Answers on their way to a store that is shared. Bounded: what does not fit is dropped. */
export class SharedWrites {
  readonly #buffer = new WriteBuffer(largestShared);
  #fullUntilMs = -Infinity;
  /** Set while the store takes none, so that it is one log record. */
  #isFull = false;
  #work: Promise<void> | undefined;

  constructor(
    private readonly link: StoreLink,
    private readonly frames: Frames,
    private readonly names: SharedNames,
    private readonly generations: SharedGenerations,
    private readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>,
    private readonly news: SharedNews,
  ) {}

  /** Bytes that wait. */
  get bytes(): number {
    return this.#buffer.bytes;
  }

  add(key: string, packed: Buffer, ttlMs: number): void {
    const drop = this.#whyNot(key, packed);
    const writtenMs = this.clock.nowMs();
    const entry = { key, packed, writtenMs, expiresMs: Math.floor(writtenMs + ttlMs) };
    if (drop !== undefined || !this.#buffer.add(entry)) {
      this.news.observer.dropped(drop ?? 'refused', 1);
      return;
    }
    this.#show();
    this.#work ??= this.#writeAll().finally(() => (this.#work = undefined));
  }

  delete(key: string): void {
    this.#buffer.delete(key);
    this.#show();
  }

  /** Drops what waits of an area. */
  drop({ tenant }: PurgeArea): void {
    if (tenant === undefined) this.#buffer.clear();
    else this.#buffer.deleteBeginning(`${tenant}:`);
    this.#show();
  }

  /** The store is gone. */
  lose(): void {
    const lost = this.#buffer.size;
    if (lost > 0) this.news.observer.dropped('lost', lost);
    this.drop({});
  }

  /** Waits for what is being written, as long as a command may take. */
  async close(): Promise<void> {
    await this.#work;
  }

  #whyNot(key: string, packed: Buffer): 'refused' | 'off' | 'full' | undefined {
    if (packed.byteLength > largestShared || this.#buffer.size >= maxWaiting) return 'refused';
    if (this.generations.of(tenantOf(key)) === undefined) return 'off';
    return this.clock.monotonicMs() < this.#fullUntilMs ? 'full' : undefined;
  }

  async #writeAll(): Promise<void> {
    // Those who add in this turn go together.
    await Promise.resolve();
    while (this.#buffer.size > 0) {
      const batch = this.#buffer.take();
      // What waits is dropped when its generation changes: this is still the one it was added under.
      await Promise.all(batch.map((entry) => this.#write(entry, this.generations.of(tenantOf(entry.key)))));
      this.#buffer.done();
      this.#show();
    }
  }

  async #write(
    { key, packed, writtenMs, expiresMs }: Waiting,
    generation: string | undefined,
  ): Promise<void> {
    const { observer } = this.news;
    if (generation === undefined) {
      observer.dropped('off', 1);
      return;
    }
    try {
      const framed = { packed, madeMs: writtenMs, freshUntilMs: expiresMs };
      const frame = await this.frames.seal(this.names.bound(key, generation), framed);
      const leftMs = expiresMs - this.clock.nowMs();
      if (frame === undefined) {
        observer.dropped('refused', 1);
        return;
      }
      if (leftMs < leastLeftMs) {
        observer.dropped('expired', 1);
        return;
      }
      await this.link.write(this.names.ofKey(key), Buffer.concat([tagOf(generation), frame]), leftMs);
      observer.wrote();
      this.#takes();
    } catch (error) {
      this.#failed(error);
    }
  }

  #failed(error: unknown): void {
    const reason = this.news.failed(error);
    const isRefused = reason === 'full' || reason === 'read_only';
    this.news.observer.dropped(isRefused ? 'full' : 'lost', 1);
    if (!isRefused) return;
    this.#fullUntilMs = this.clock.monotonicMs() + fullMs;
    if (this.#isFull) return;
    this.#isFull = true;
    this.news.warn('shared cache takes no answers, it is tried again every few seconds', { error });
  }

  #takes(): void {
    if (!this.#isFull) return;
    this.#isFull = false;
    this.news.info('shared cache takes answers again');
  }

  #show(): void {
    this.news.observer.waiting(this.#buffer.bytes);
  }
}
