import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../base/clock.js';
import type { PurgeArea, SharedGenerations } from './shared-generations.js';
import type { SharedNames } from './shared-names.js';
import type { SharedNews } from './shared-observer.js';
import { StoreFailure, type StoreLink } from './shared-store-link.js';

/** Read in one command. */
const readAtOnce = 500;
/** Of the texts of generations: long after the last answer under them, and renewed while they are in use. */
const keptMs = 7 * 86_400_000;
const renewMs = 3_600_000;

/** What happens here when generations change. */
export interface PurgeHandlers {
  /** What waits of this area is no longer wanted. */
  changed(area: PurgeArea): void;
  /** Purges all that this process keeps, or what it keeps of one tenant (as keys begin): another one has done so. */
  purge(tenant: string | undefined): Promise<void>;
}

/** Keeps the generations of this process and those in the store the same. */
export class SharedPurges {
  /** Set in what runs because another process has purged. */
  readonly #telling = new AsyncLocalStorage<true>();
  #tellings = 0;
  /** By name, texts that are being made. */
  readonly #making = new Map<string, Promise<void>>();
  #sending: Promise<void> = Promise.resolve();
  #renewAtMs = -Infinity;

  constructor(
    private readonly link: StoreLink,
    private readonly names: SharedNames,
    private readonly generations: SharedGenerations,
    private readonly clock: Pick<Clock, 'monotonicMs'>,
    private readonly news: SharedNews,
    private readonly handlers: PurgeHandlers,
  ) {}

  /** A purge of this process; unless it is one that the store has told of. */
  async purge(area: PurgeArea): Promise<void> {
    this.handlers.changed(area);
    if (this.#telling.getStore() === true) return;
    this.generations.purge(area);
    await this.send();
    if (!this.generations.pending.some(({ tenant }) => tenant === area.tenant)) return;
    this.news.warnNowAndThen(
      'shared cache was not told of a purge: other replicas may find in it what was purged, until it is',
    );
  }

  /** Tells the store of the purges that wait. */
  send(): Promise<void> {
    this.#sending = this.#sending.then(async () => {
      for (const area of this.generations.pending) {
        if (!this.link.isOpen) return;
        await this.news.attempt(() => this.#send(area));
      }
    });
    return this.#sending;
  }

  /**
   * Reads what has been purged of what this process has asked for.
   * @returns how long the first read took
   */
  async follow(): Promise<number> {
    const { followed } = this.generations;
    const isToRenew = this.clock.monotonicMs() >= this.#renewAtMs;
    let tookMs = 0;
    for (let at = 0; at < followed.length; at += readAtOnce) {
      const areas = followed.slice(at, at + readAtOnce);
      const names = areas.map((area) => this.names.ofArea(area));
      const fromMs = this.clock.monotonicMs();
      const texts = await this.link.texts(names);
      if (at === 0) tookMs = this.clock.monotonicMs() - fromMs;
      areas.forEach((area, index) => this.learn(area, texts[index]));
      if (isToRenew) await this.link.renew(names, keptMs);
    }
    if (isToRenew) this.#renewAtMs = this.clock.monotonicMs() + renewMs;
    return tookMs;
  }

  /** Waits for generations that are being made. */
  async made(): Promise<void> {
    await Promise.all(this.#making.values());
  }

  learn(area: PurgeArea, text: string | undefined): void {
    const lesson = this.generations.learn(area, text);
    if (lesson === 'same') return;
    this.handlers.changed(area);
    switch (lesson) {
      case 'other':
        return;
      case 'missing':
        this.#make(area);
        return;
      case 'undone':
        this.news.info('shared cache has forgotten a purge, it is told again');
        this.generations.purge(area);
        return;
      case 'purged':
        this.#tell(area);
    }
  }

  async #send(area: PurgeArea): Promise<void> {
    const name = this.names.ofArea(area);
    const { text, done } = this.generations.begin(area);
    try {
      done(await this.link.swapText(name, text, keptMs));
      this.news.observer.purged('this');
    } catch (error) {
      // A full store still deletes, and without its text nothing of the area is believed.
      if (error instanceof StoreFailure && error.reason === 'full') await this.link.remove(name);
      throw error;
    }
  }

  #make(area: PurgeArea): void {
    const name = this.names.ofArea(area);
    if (this.#making.has(name)) return;
    const making = this.news.attempt(() => this.link.textOr(name, this.generations.first(), keptMs));
    const made = making.then((text) => {
      this.#making.delete(name);
      if (text !== undefined) this.learn(area, text);
    });
    this.#making.set(name, made);
  }

  /** Purges here what another process has purged. */
  #tell({ tenant }: PurgeArea): void {
    this.news.observer.purged('another');
    this.#tellings += 1;
    void this.#telling
      .run(true, () => this.handlers.purge(tenant))
      .catch((error: unknown) => this.news.error('a purge by another replica failed here', { error }))
      .finally(() => {
        this.#tellings -= 1;
        // It costs something as long as it is in use.
        if (this.#tellings === 0) this.#telling.disable();
      });
  }
}
