import { ByteLru } from '../../core/base/memory/byte-lru.js';
import { Ring } from '../../plugins/peer-cache/peers/members.js';
import { Random } from '../watch/random.js';

/** How replicas share what they keep. */
export type Sharing = 'apart' | 'peers' | 'store';

/** What happens to the fleet half-way: nothing, all replicas restarted one after the other, or a third of them lost. */
export type Event = 'none' | 'restart' | 'zone';

export interface SimulationSettings {
  readonly seed: number;
  readonly replicas: number;
  readonly sharing: Sharing;
  readonly event: Event;
  readonly requests: number;
  /** Different questions that are asked, some far more often than others (Zipf's law with an exponent of 1). */
  readonly questions: number;
  /** Of the whole fleet. */
  readonly requestsPerSecond: number;
  /** Memory of a replica for answers. */
  readonly cacheBytes: number;
}

export interface SimulationResult {
  readonly backendCalls: number;
  /** Those for answers that are kept long enough to be shared; the others are the same for all ways of sharing. */
  readonly shareableCalls: number;
  /** What replicas sent to each other, or to and from the store. */
  readonly sharedBytes: number;
  /** Lookups at the busiest owner over those at the average one; 1 where nobody owns anything. */
  readonly imbalance: number;
}

/** What is left for less is not taken from others. */
const minUsableMs = 5_000;
const shadowMs = 30_000;
const leastPushedMs = 30_000;

interface Question {
  readonly key: string;
  readonly bytes: number;
  readonly ttlMs: number;
}

interface Held {
  readonly bytes: number;
  readonly untilMs: number;
}

/**
 * Replays a mix of requests in no time: the ring and the memory of the product, and its rules about who keeps what for how long; without
 * flights, hedging and faults, so that the figures are those of a fleet that runs well.
 */
export function simulate(settings: SimulationSettings): SimulationResult {
  return new Simulation(settings).run();
}

class Simulation {
  readonly #settings: SimulationSettings;
  readonly #random: Random;
  readonly #clock = { nowMs: 0, monotonicMs: (): number => this.#clock.nowMs };
  readonly #caches = new Map<string, ByteLru<Held>>();
  readonly #store: ByteLru<Held>;
  readonly #owned = new Map<string, number>();
  #members: string[];
  #ring: Ring;
  #backendCalls = 0;
  #shareableCalls = 0;
  #sharedBytes = 0;

  constructor(settings: SimulationSettings) {
    this.#settings = settings;
    this.#random = new Random(settings.seed);
    this.#members = Array.from({ length: settings.replicas }, (_, number) => `10.0.0.${number}:3100`);
    this.#ring = new Ring(this.#members);
    for (const member of this.#members) this.#caches.set(member, this.#emptyCache(settings.cacheBytes));
    this.#store = this.#emptyCache(Number.MAX_SAFE_INTEGER);
  }

  run(): SimulationResult {
    const { requests, requestsPerSecond } = this.#settings;
    const questions = this.#questions();
    for (let number = 0; number < requests; number += 1) {
      this.#clock.nowMs += (-Math.log(1 - this.#random.next()) * 1_000) / requestsPerSecond;
      this.#happen(number);
      const rank = Math.floor(questions.length ** this.#random.next()) - 1;
      const question = questions[Math.max(0, rank)];
      if (question !== undefined) this.#ask(this.#random.pick(this.#members), question);
    }
    const most = Math.max(0, ...this.#owned.values());
    const all = [...this.#owned.values()].reduce((sum, count) => sum + count, 0);
    return {
      backendCalls: this.#backendCalls,
      shareableCalls: this.#shareableCalls,
      sharedBytes: this.#sharedBytes,
      imbalance: all === 0 ? 1 : (most * this.#members.length) / all,
    };
  }

  /** Panels of a dashboard over ranges that have passed, mostly; a tenth reaches to now, and is kept for two seconds. */
  #questions(): readonly Question[] {
    return Array.from({ length: this.#settings.questions }, (_, number) => ({
      key: `question ${number}`,
      bytes: Math.round(1_000 * 300 ** this.#random.next()),
      ttlMs: this.#random.chance(0.1) ? 2_000 : this.#random.pick([60_000, 300_000, 86_400_000]),
    }));
  }

  #happen(number: number): void {
    const { event, requests, replicas, cacheBytes } = this.#settings;
    const first = Math.floor(requests / 2);
    if (event === 'zone' && number === first) {
      this.#members = this.#members.filter((_, index) => index % 3 !== 0);
      this.#ring = new Ring(this.#members);
    }
    // One after the other over a quarter of the run.
    const step = Math.max(1, Math.floor(requests / 4 / replicas));
    const since = number - first;
    if (event !== 'restart' || since < 0 || since % step !== 0) return;
    const member = this.#members[since / step];
    if (member !== undefined) this.#caches.set(member, this.#emptyCache(cacheBytes));
  }

  #ask(asker: string, question: Question): void {
    const { sharing } = this.#settings;
    const own = this.#caches.get(asker);
    if (own === undefined || own.get(question.key) !== undefined) return;
    const found = sharing === 'apart' ? undefined : this.#askOthers(asker, question);
    if (found !== undefined) {
      this.#sharedBytes += question.bytes;
      this.#keep(own, question, found.untilMs);
      return;
    }
    this.#backendCalls += 1;
    const untilMs = this.#clock.nowMs + question.ttlMs;
    const owner = this.#ownerOf(question.key);
    const isShareable = question.ttlMs >= leastPushedMs;
    if (isShareable) this.#shareableCalls += 1;
    const isShared = sharing !== 'apart' && isShareable;
    if (sharing === 'store' || owner === asker || !isShared) this.#keep(own, question, untilMs);
    else this.#keep(own, question, Math.min(untilMs, this.#clock.nowMs + shadowMs));
    if (!isShared || (sharing === 'peers' && owner === asker)) return;
    this.#sharedBytes += question.bytes;
    this.#keep(sharing === 'store' ? this.#store : this.#caches.get(owner), question, untilMs);
  }

  /** What the owner has, or the store; the owner itself asks the one that was owner before it came. */
  #askOthers(asker: string, { key }: Question): Held | undefined {
    if (this.#settings.sharing === 'store') return usable(this.#store.get(key), this.#clock.nowMs);
    const [owner, next] = this.#ring.ownersOf(key);
    if (owner !== undefined) this.#owned.set(owner, (this.#owned.get(owner) ?? 0) + 1);
    const asked = owner === asker ? next : owner;
    return asked === undefined ? undefined : usable(this.#caches.get(asked)?.get(key), this.#clock.nowMs);
  }

  #ownerOf(key: string): string {
    const [owner] = this.#ring.ownersOf(key);
    if (owner === undefined) throw new Error('a ring has members');
    return owner;
  }

  #keep(cache: ByteLru<Held> | undefined, { key, bytes }: Question, untilMs: number): void {
    cache?.set(key, { bytes, untilMs }, bytes, untilMs - this.#clock.nowMs);
  }

  #emptyCache(maxBytes: number): ByteLru<Held> {
    return new ByteLru<Held>({ maxEntries: 1_000_000, maxBytes, clock: this.#clock });
  }
}

function usable(held: Held | undefined, nowMs: number): Held | undefined {
  return held !== undefined && held.untilMs - nowMs >= minUsableMs ? held : undefined;
}
