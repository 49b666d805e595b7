import type { AnswerStore } from '../../core/cache/answer-store.js';
import { Pacer } from '../../core/base/pace/pacer.js';
import { atPace } from '../../core/base/pace/steps.js';
import { isCacheable, packSteps, unpackSteps } from '../../core/wire/answer/packed.js';
import type { Answer, Exchange, Meters } from '../../core/plugin/index.js';
import type { windowMetrics } from './metrics.js';

/** A cache key, and the TTL of its value. */
export interface KeepKey {
  readonly text: string;
  readonly ttlMs: number;
}

/** Approximate ratio of an unpacked answer's size to its packed size. */
const unpackedFactor = 4;

/** Number of windows loaded at once; small, so that few are loaded that the limit makes unnecessary. */
const foundAtOnce = 8;

/** The cached windows of one query; their keys start with the query's key. */
export class KeptWindows {
  readonly #store: AnswerStore;
  readonly #exchange: Pick<Exchange, 'memory' | 'signal'>;
  readonly #meters: Meters<typeof windowMetrics>;
  readonly #generation: string;
  /** Keys of windows that were not cached, and for which others may wait. */
  readonly #missing = new Set<string>();

  constructor(
    store: AnswerStore,
    exchange: Pick<Exchange, 'memory' | 'signal'>,
    meters: Meters<typeof windowMetrics>,
    question: string,
    private readonly isKept: boolean,
  ) {
    this.#store = store;
    this.#exchange = exchange;
    this.#meters = meters;
    this.#generation = store.generationOf(question);
  }

  /** The packed windows that are cached, in the order of the keys. */
  async find(keys: readonly (KeepKey | undefined)[]): Promise<readonly (Buffer | undefined)[]> {
    if (!this.isKept) return keys.map(() => undefined);
    const found = await Promise.all(
      keys.map((key) => (key === undefined ? Promise.resolve(undefined) : this.#store.get(key.text))),
    );
    for (const [place, key] of keys.entries()) {
      if (key === undefined) continue;
      if (found[place] === undefined) {
        this.#missing.add(key.text);
        this.#meters.window_cache_miss_total.add(1, {});
      } else this.#meters.window_cache_hit_total.add(1, {});
    }
    return found;
  }

  /** As `find`, loading a few windows at a time and only on demand. */
  inTurn(keys: readonly (KeepKey | undefined)[]): (place: number) => Promise<Buffer | undefined> {
    const found: (Buffer | undefined)[] = [];
    return async (place) => {
      while (found.length <= place)
        found.push(...(await this.find(keys.slice(found.length, found.length + foundAtOnce))));
      return found[place];
    };
  }

  async unpack(packed: Buffer): Promise<Answer> {
    this.#exchange.memory.charge(packed.byteLength * unpackedFactor, 'windows that were kept');
    return atPace(unpackSteps(packed), new Pacer(this.#exchange.signal));
  }

  async keep({ text, ttlMs }: KeepKey, answer: Answer): Promise<void> {
    if (!this.isKept || !isCacheable(answer)) return;
    const packed = await atPace(packSteps(answer), new Pacer(this.#exchange.signal));
    this.#missing.delete(text);
    await this.#store.set(text, packed, ttlMs, this.#generation);
  }

  /** Reports that windows that were missing, and were not stored since, will not be stored. */
  giveUp(): void {
    for (const key of this.#missing) this.#store.giveUp(key);
    this.#missing.clear();
  }
}
