import type { Clock } from '../../../core/base/clock.js';
import { ByteLru } from '../../../core/base/memory/byte-lru.js';
import type { PeerCacheOptions } from '../../../core/base/options.gen.js';
import type { AnswerStore } from '../../../core/cache/answer-store.js';
import type { Host, Meters } from '../../../core/plugin/index.js';
import type { peerMetrics } from './metrics.js';
import { type Peer, largestSet, type PeerHouse, type LookupReply } from './peer.js';
import type { AnswerHit, AnswerTier, TierFront } from '../../../core/cache/answer-tier.js';
import { settles } from '../../../core/base/time/within.js';
import { AdaptiveTimeout } from '../../../core/base/pace/adaptive-timeout.js';
import { frameBytes } from '../../../core/cache/frame.js';
import { HotIndex } from './hot-index.js';
import { Making } from './making.js';
import type { Members } from './members.js';

/** Values with a lower remaining TTL are not worth fetching. */
export const minUsableMs = 5_000;
/** TTL of the local copy of a value that was pushed to its owner. */
const shadowMs = 30_000;
/** Maximum time for which an owner holds open the call of a waiter. */
const longestRoundMs = 1_000;
const foreignBounds = { maxEntries: 1_024, maxBytes: 16 * 1024 * 1024 };
/** Maximum length of a key, which is part of a URL; values with longer ones are not shared. */
const maxKeyLength = 64 * 1024;

type PeerTierOptions = Pick<PeerCacheOptions, 'peerWriteThrough' | 'peerWriteThroughMinTtl'>;

/** The tier of the other replicas (L3): fetches values from the owner of their key, and pushes values made here to it. */
export class PeerTier implements AnswerTier {
  readonly #options: PeerTierOptions;
  readonly #house: PeerHouse;
  readonly #members: Members;
  readonly hot: HotIndex;
  /**
   * Values set by other programs that have the token, without a replica's frame. They are stored as they are, and returned only to such
   * programs. Requests are never answered from them.
   */
  readonly foreign: ByteLru<Buffer>;
  /** Work of any replica on keys that this process owns. */
  readonly making: Making;
  /** Work of this process that others may wait for. */
  readonly #mine: Making;
  /** Timeout for work of other replicas, adapted to the usual duration of such work here. */
  readonly #makingTimeout = new AdaptiveTimeout({
    leastMs: 100,
    mostMs: 10_000,
    usualMs: 1_000,
    forgetting: 0.3,
  });
  readonly #pushes: PushQueue;
  /** Calls in flight: identical ones are merged. */
  readonly #asked = new Map<string, Promise<AnswerHit | undefined>>();
  /** The tiers in front; undefined before the start. */
  front: TierFront | undefined;
  /** Incremented by purges, so that values fetched before one are not stored after it. */
  #epoch = 0;

  constructor(options: PeerTierOptions, house: PeerHouse, members: Members) {
    this.#options = options;
    this.#house = house;
    this.#members = members;
    this.hot = new HotIndex(house.clock);
    this.making = new Making(house.clock);
    this.foreign = new ByteLru({ ...foreignBounds, clock: house.clock });
    this.#mine = new Making(house.clock);
    this.#pushes = new PushQueue(house.clock, house.meters);
  }

  get leastTtlMs(): number {
    return minUsableMs;
  }

  used(key: string): void {
    this.hot.used(key);
  }

  /** Adds the tier behind those of the store. */
  attach(store: AnswerStore, host: Pick<Host, 'setup' | 'onStop'>): TierFront {
    this.front = store.addTier(this, host.setup);
    host.onStop(() => store.removeTier(this));
    return this.front;
  }

  async get(key: string, forOthers = false): Promise<AnswerHit | undefined> {
    if (!forOthers) return this.#askOnce(key);
    return (await this.#first(key, this.#members.placeOf(key).ask)).hit;
  }

  #askOnce(key: string): Promise<AnswerHit | undefined> {
    const asked = this.#asked.get(key);
    if (asked !== undefined) return asked;
    // Callers that want a value being made here join that call.
    if (key.length > maxKeyLength || this.#mine.has(key)) return Promise.resolve(undefined);
    const asking = this.#find(key).finally(() => this.#asked.delete(key));
    this.#asked.set(key, asking);
    return asking;
  }

  shadowMs(key: string, packed: Buffer, ttlMs: number): number | undefined {
    const { peerWriteThrough, peerWriteThroughMinTtl } = this.#options;
    if (!peerWriteThrough || ttlMs < peerWriteThroughMinTtl || key.length > maxKeyLength) return undefined;
    if (packed.byteLength + frameBytes > largestSet || this.#members.placeOf(key).home === undefined)
      return undefined;
    return this.#pushes.hasRoom(packed.byteLength) ? shadowMs : undefined;
  }

  set(key: string, packed: Buffer, ttlMs: number): void {
    const isBrought = this.shadowMs(key, packed, ttlMs) !== undefined;
    this.#made(key, { packed, leftMs: ttlMs, ageMs: 0 }, isBrought);
    if (isBrought) this.#pushes.add(key, packed, ttlMs, () => this.#members.placeOf(key).home);
  }

  giveUp(key: string): void {
    this.#made(key);
  }

  /** Ends this process's work on a key. Waiters of other replicas are notified, unless a push of the value will reach them. */
  #made(key: string, hit?: AnswerHit, isBrought = false): void {
    const tookMs = this.#mine.end(key);
    if (tookMs === undefined) return;
    this.#makingTimeout.answered(tookMs);
    const { home } = this.#members.placeOf(key);
    if (home === undefined) this.making.end(key, hit);
    else if (!isBrought) void home.giveUp(key);
  }

  delete(): Promise<void> {
    // Values of other replicas are not deleted.
    return Promise.resolve();
  }

  purge(): Promise<void> {
    return this.purgeBeginning('');
  }

  purgeBeginning(prefix: string): Promise<void> {
    this.#epoch += 1;
    this.#pushes.clear(prefix);
    this.hot.clear(prefix);
    this.making.clear(prefix);
    this.#mine.clear(prefix);
    this.foreign.clear();
    return Promise.resolve();
  }

  async #find(key: string): Promise<AnswerHit | undefined> {
    const { meters } = this.#house;
    const { home, ask } = this.#members.placeOf(key);
    if (ask.length === 0) return undefined;
    const hit = home === undefined ? await this.#findAtHome(key, ask) : await this.#findAt(home, key, ask);
    (hit === undefined ? meters.peer_cache_misses_total : meters.peer_cache_hits_total).add(1, {});
    return hit;
  }

  /** If this process is the owner, it registers the work, so that others can wait for it, and waits for the work of others. */
  async #findAtHome(key: string, ask: readonly Peer[]): Promise<AnswerHit | undefined> {
    if (!this.making.begin(key))
      return this.making.has(key)
        ? this.#joined(await this.making.wait(key, this.#makingTimeout.ms))
        : undefined;
    this.#mine.begin(key);
    const hit = (await this.#first(key, ask)).hit;
    if (hit !== undefined) {
      this.#mine.end(key);
      this.making.end(key, hit);
    }
    return hit;
  }

  async #findAt(home: Peer, key: string, ask: readonly Peer[]): Promise<AnswerHit | undefined> {
    const { hit, state } = await this.#first(key, ask, home);
    if (state === 'make') this.#mine.begin(key);
    return state === 'wait' ? this.#joined(await this.#join(home, key)) : hit;
  }

  /** @param home the owner, which asks this process to make the value if no other does */
  async #first(key: string, [first, second]: readonly Peer[], home?: Peer): Promise<LookupReply> {
    if (first === undefined) return nothing;
    // Checks in parallel whether the owner has the value; it crosses zones only if this zone does not have it.
    const leftElsewhere = second?.leftOf(key);
    const told = await this.#ask(first, key, first === home);
    if (told.hit !== undefined || second === undefined || leftElsewhere === undefined) return told;
    const isSettled = await settles(second.timeout.ms, leftElsewhere);
    const isThere = isSettled && ((await leftElsewhere) ?? 0) >= minUsableMs;
    return isThere || second === home ? this.#ask(second, key, second === home) : nothing;
  }

  /** Asks a peer, with a timeout adapted to its usual response time. A late value is stored for the next request. */
  async #ask(peer: Peer, key: string, makes: boolean): Promise<LookupReply> {
    const head = { hasCome: false };
    const answer = peer.get(key, { began: () => (head.hasCome = true), makes });
    let isInTime = await settles(peer.timeout.ms, answer);
    if (!isInTime && head.hasCome) isInTime = await settles(peer.timeout.mostMs, answer);
    if (isInTime) return usable(await answer);
    peer.timeout.wasLate();
    this.#house.meters.peer_cache_late_total.add(1, {});
    void this.#keepLater(key, answer);
    return nothing;
  }

  /**
   * Waits, in rounds, for a value that another replica makes, for as long as such work usually takes here, and only while the owner
   * answers.
   */
  async #join(home: Peer, key: string): Promise<AnswerHit | undefined> {
    const { clock, timeoutMs } = this.#house;
    const untilMs = clock.monotonicMs() + this.#makingTimeout.ms;
    for (;;) {
      const waitMs = Math.min(untilMs - clock.monotonicMs(), timeoutMs / 2, longestRoundMs);
      if (waitMs < 1) return undefined;
      const answer = home.get(key, { waitMs });
      if (!(await settles(waitMs + home.timeout.mostMs, answer))) {
        home.timeout.wasLate();
        void this.#keepLater(key, answer);
        return undefined;
      }
      const { hit, state } = usable(await answer);
      if (hit !== undefined || state !== 'wait') return hit;
    }
  }

  #joined(hit: AnswerHit | undefined): AnswerHit | undefined {
    const { peer_cache_joins_total, peer_cache_joins_saved_total } = this.#house.meters;
    peer_cache_joins_total.add(1, {});
    if (hit !== undefined) peer_cache_joins_saved_total.add(1, {});
    return hit;
  }

  async #keepLater(key: string, answer: Promise<LookupReply | undefined>): Promise<void> {
    const epoch = this.#epoch;
    const { hit, state } = usable(await answer);
    if (epoch !== this.#epoch) return;
    if (hit !== undefined) this.front?.put(key, hit, false);
    // The request that asked has gone on, and makes the value.
    if (state === 'make') this.#mine.begin(key);
  }
}

const nothing: LookupReply = { state: 'none' };

function usable(told: LookupReply | undefined): LookupReply {
  if (told?.hit === undefined) return told ?? nothing;
  return told.hit.leftMs < minUsableMs ? nothing : told;
}

interface Push {
  readonly key: string;
  readonly packed: Buffer;
  readonly madeMs: number;
  readonly ttlMs: number;
  readonly to: () => Peer | undefined;
}

const maxPushes = 1_000;
const maxPushBytes = 32 * 1024 * 1024;
const atOnce = 4;

/** Values to be pushed to their owners, in the background. Bounded. */
export class PushQueue {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #meters: Meters<typeof peerMetrics>;
  /** Pushes in order of arrival. */
  readonly #waiting = new Map<string, Push>();
  #bytes = 0;
  #running = 0;

  constructor(clock: Pick<Clock, 'monotonicMs'>, meters: Meters<typeof peerMetrics>) {
    this.#clock = clock;
    this.#meters = meters;
  }

  /** Tells whether a value of this size fits; counts it as dropped if not. */
  hasRoom(bytes: number): boolean {
    const reason =
      this.#waiting.size >= maxPushes ? 'entries' : this.#bytes + bytes > maxPushBytes ? 'bytes' : undefined;
    if (reason === undefined) return true;
    this.#meters.peer_cache_write_through_drops_total.add(1, { reason });
    return false;
  }

  /** @param to called when the value is sent, because members change */
  add(key: string, packed: Buffer, ttlMs: number, to: () => Peer | undefined): void {
    this.#remove(key);
    this.#waiting.set(key, { key, packed, ttlMs, madeMs: this.#clock.monotonicMs(), to });
    this.#hold(packed.byteLength);
    this.#next();
  }

  /** Drops pending pushes with this key prefix. */
  clear(prefix = ''): void {
    for (const key of [...this.#waiting.keys()]) if (key.startsWith(prefix)) this.#remove(key);
  }

  #next(): void {
    while (this.#running < atOnce) {
      const [first] = this.#waiting.values();
      if (first === undefined) return;
      this.#waiting.delete(first.key);
      this.#running += 1;
      void this.#send(first).finally(() => {
        this.#running -= 1;
        this.#hold(-first.packed.byteLength);
        this.#next();
      });
    }
  }

  async #send({ key, packed, madeMs, ttlMs, to }: Push): Promise<void> {
    const ageMs = this.#clock.monotonicMs() - madeMs;
    const peer = to();
    if (peer === undefined || ttlMs - ageMs <= 0) return;
    const isTaken = await peer.set(key, { packed, ageMs, leftMs: ttlMs - ageMs });
    const { peer_cache_write_through_pushes_total: pushes, peer_cache_write_through_errors_total: errors } =
      this.#meters;
    (isTaken ? pushes : errors).add(1, {});
  }

  #remove(key: string): void {
    const push = this.#waiting.get(key);
    if (push === undefined) return;
    this.#waiting.delete(key);
    this.#hold(-push.packed.byteLength);
  }

  #hold(bytes: number): void {
    this.#bytes += bytes;
    this.#meters.peer_cache_write_through_waiting_bytes.set(this.#bytes, {});
  }
}
