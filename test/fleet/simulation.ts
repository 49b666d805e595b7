import { ByteLru } from '../../core/base/memory/byte-lru.js';
import { Ring } from '../../plugins/peer-cache/peers/members.js';
import { Random } from '../watch/random.js';

/** The way replicas share their caches. */
export type Sharing = 'apart' | 'peers' | 'store';

/** The event half-way through the run: none, a rolling restart of all replicas, or the loss of a third of them. */
export type Event = 'none' | 'restart' | 'zone';

export interface SimulationSettings {
  readonly seed: number;
  readonly replicas: number;
  readonly sharing: Sharing;
  readonly event: Event;
  readonly requests: number;
  /** Number of different questions, some far more frequent than others (Zipf's law with an exponent of 1). */
  readonly questions: number;
  /** Request rate of the whole fleet. */
  readonly requestsPerSecond: number;
  /** Cache memory of a replica. */
  readonly cacheBytes: number;
}

export interface SimulationResult {
  readonly backendCalls: number;
  /** Calls for answers with a TTL long enough to share; the others are the same for all ways of sharing. */
  readonly shareableCalls: number;
  /** Bytes that replicas sent to each other, or to and from the store. */
  readonly sharedBytes: number;
  /** Lookups at the busiest owner divided by those at the average one; 1 if there are no owners. */
  readonly imbalance: number;
}

/** Answers with a shorter remaining TTL are not read from others. */
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
 * Simulates a mix of requests with a virtual clock: it uses the ring and memory cache of the product, and its rules for placement and TTLs,
 * but no in-flight merging, hedging or faults, so the figures are those of a healthy fleet.
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

  /** Mostly dashboard panels over past ranges; a tenth of the ranges reach to now, and have a TTL of two seconds. */
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
    // One after another over a quarter of the run.
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

  /** Asks the owner, or the store; the owner itself asks the previous owner of the key. */
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
