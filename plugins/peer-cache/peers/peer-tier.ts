import type { Clock } from '../../../core/base/clock.js';
import { ByteLru } from '../../../core/base/memory/byte-lru.js';
import type { Meters } from '../../../core/plugin/index.js';
import type { peerMetrics } from './metrics.js';
import { type Peer, largestSet, type PeerHouse, type Told } from './peer.js';
import type { AnswerHit, AnswerTier, TierFront } from '../../../core/cache/answer-tier.js';
import { AdaptiveTimeout } from '../../../core/base/pace/adaptive-timeout.js';
import { frameBytes } from '../../../core/cache/frame.js';
import { HotIndex } from './hot-index.js';
import { Making } from './making.js';
import type { Members } from './members.js';

/** What is fresh for less is not worth taking from elsewhere. */
export const minUsableMs = 5_000;
/** How long a process keeps what it has brought to another one. */
const shadowMs = 30_000;
/** The longest time that an owner holds a call of one who waits. */
const longestRoundMs = 1_000;
/** Keys stand in the URL; those with the longest queries are not shared. */
const maxKeyLength = 64 * 1024;

export interface PeerTierOptions {
  readonly peerWriteThrough: boolean;
  readonly peerWriteThroughMinTtl: number;
}

/** What is known of keys beside their values. */
export interface PeerKeys {
  readonly hot: HotIndex;
  readonly making: Making;
  readonly foreign: ForeignValues;
}

export function peerKeys(clock: Pick<Clock, 'monotonicMs'>): PeerKeys {
  return { hot: new HotIndex(clock), making: new Making(clock), foreign: new ForeignValues(clock) };
}

/** The tier of the other replicas (L3): asks the one that owns a key, and brings it what was made here. */
export class PeerTier implements AnswerTier {
  readonly #options: PeerTierOptions;
  readonly #house: PeerHouse;
  readonly #members: Members;
  readonly #hot: HotIndex;
  readonly #foreign: ForeignValues;
  /** What is made anywhere, of the keys of which this process is the home. */
  readonly #making: Making;
  /** What this process makes while others may wait for it. */
  readonly #mine: Making;
  /** The wait for what another replica makes, by how long such things take here. */
  readonly #makingTimeout = new AdaptiveTimeout({
    leastMs: 100,
    mostMs: 10_000,
    usualMs: 1_000,
    forgetting: 0.3,
  });
  readonly #pushes: PushQueue;
  /** Calls for a key are shared. */
  readonly #asked = new Map<string, Promise<AnswerHit | undefined>>();
  #front: TierFront | undefined;
  /** What is on its way when caches are emptied is not kept. */
  #epoch = 0;

  constructor(options: PeerTierOptions, house: PeerHouse, members: Members, keys: PeerKeys) {
    this.#options = options;
    this.#house = house;
    this.#members = members;
    this.#hot = keys.hot;
    this.#making = keys.making;
    this.#foreign = keys.foreign;
    this.#mine = new Making(house.clock);
    this.#pushes = new PushQueue(house.clock, house.meters);
  }

  get leastTtlMs(): number {
    return minUsableMs;
  }

  used(key: string): void {
    this.#hot.used(key);
  }

  attach(front: TierFront): void {
    this.#front = front;
  }

  async get(key: string, forOthers = false): Promise<AnswerHit | undefined> {
    if (!forOthers) return this.#askOnce(key);
    return (await this.#first(key, this.#members.placeOf(key).ask)).hit;
  }

  #askOnce(key: string): Promise<AnswerHit | undefined> {
    const asked = this.#asked.get(key);
    if (asked !== undefined) return asked;
    // What this process makes is found by who joins its call.
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

  /** Ends what this process makes for the fleet; who waits for it elsewhere is told unless the value is on its way there. */
  #made(key: string, hit?: AnswerHit, isBrought = false): void {
    const tookMs = this.#mine.end(key);
    if (tookMs === undefined) return;
    this.#makingTimeout.answered(tookMs);
    const { home } = this.#members.placeOf(key);
    if (home === undefined) this.#making.end(key, hit);
    else if (!isBrought) void home.giveUp(key);
  }

  delete(): Promise<void> {
    // What others have is theirs.
    return Promise.resolve();
  }

  purge(): Promise<void> {
    return this.purgeBeginning('');
  }

  purgeBeginning(prefix: string): Promise<void> {
    this.#epoch += 1;
    this.#pushes.clear(prefix);
    this.#hot.clear(prefix);
    this.#making.clear(prefix);
    this.#mine.clear(prefix);
    this.#foreign.clear();
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

  /** Where this process is the home, others wait for what it makes, and it for what others make. */
  async #findAtHome(key: string, ask: readonly Peer[]): Promise<AnswerHit | undefined> {
    if (!this.#making.begin(key))
      return this.#making.has(key)
        ? this.#joined(await this.#making.wait(key, this.#makingTimeout.ms))
        : undefined;
    this.#mine.begin(key);
    const hit = (await this.#first(key, ask)).hit;
    if (hit !== undefined) {
      this.#mine.end(key);
      this.#making.end(key, hit);
    }
    return hit;
  }

  async #findAt(home: Peer, key: string, ask: readonly Peer[]): Promise<AnswerHit | undefined> {
    const { hit, state } = await this.#first(key, ask, home);
    if (state === 'make') this.#mine.begin(key);
    return state === 'wait' ? this.#joined(await this.#join(home, key)) : hit;
  }

  /** @param home who is asked to have this process make the value, if nobody does */
  async #first(key: string, [first, second]: readonly Peer[], home?: Peer): Promise<Told> {
    if (first === undefined) return nothing;
    // Whether the owner has it is asked meanwhile; the value crosses zones only where the own zone has none.
    const leftElsewhere = second?.leftOf(key);
    const told = await this.#ask(first, key, first === home);
    if (told.hit !== undefined || second === undefined || leftElsewhere === undefined) return told;
    const isTold = await settles(leftElsewhere, second.timeout.ms);
    const isThere = isTold && ((await leftElsewhere) ?? 0) >= minUsableMs;
    return isThere || second === home ? this.#ask(second, key, second === home) : nothing;
  }

  /** Waits for the peer no longer than it usually takes; what comes later is kept for the next one. */
  async #ask(peer: Peer, key: string, makes: boolean): Promise<Told> {
    const head = { hasCome: false };
    const answer = peer.get(key, { began: () => (head.hasCome = true), makes });
    let isInTime = await settles(answer, peer.timeout.ms);
    if (!isInTime && head.hasCome) isInTime = await settles(answer, peer.timeout.mostMs);
    if (isInTime) return usable(await answer);
    peer.timeout.wasLate();
    this.#house.meters.peer_cache_late_total.add(1, {});
    void this.#keepLater(key, answer);
    return nothing;
  }

  /** Waits, in rounds, for what another replica makes: no longer than such things usually take here, and only while the owner answers. */
  async #join(home: Peer, key: string): Promise<AnswerHit | undefined> {
    const { clock, timeoutMs } = this.#house;
    const untilMs = clock.monotonicMs() + this.#makingTimeout.ms;
    for (;;) {
      const waitMs = Math.min(untilMs - clock.monotonicMs(), timeoutMs / 2, longestRoundMs);
      if (waitMs < 1) return undefined;
      const answer = home.get(key, { waitMs });
      if (!(await settles(answer, waitMs + home.timeout.mostMs))) {
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

  async #keepLater(key: string, answer: Promise<Told | undefined>): Promise<void> {
    const epoch = this.#epoch;
    const { hit, state } = usable(await answer);
    if (epoch !== this.#epoch) return;
    if (hit !== undefined) this.#front?.put(key, hit, false);
    // The request that asked has gone on, and makes it.
    if (state === 'make') this.#mine.begin(key);
  }
}

const nothing: Told = { state: 'none' };

function usable(told: Told | undefined): Told {
  if (told?.hit === undefined) return told ?? nothing;
  return told.hit.leftMs < minUsableMs ? nothing : told;
}

/** Whether something ends within a time. It never fails. */
async function settles(work: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
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

/** Values on their way to the replicas that own them, in the background and bounded. */
export class PushQueue {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #meters: Meters<typeof peerMetrics>;
  /** In order of arrival. */
  readonly #waiting = new Map<string, Push>();
  #bytes = 0;
  #running = 0;

  constructor(clock: Pick<Clock, 'monotonicMs'>, meters: Meters<typeof peerMetrics>) {
    this.#clock = clock;
    this.#meters = meters;
  }

  /** Whether there is room for such a value; that there is none is counted. */
  hasRoom(bytes: number): boolean {
    const reason =
      this.#waiting.size >= maxPushes ? 'entries' : this.#bytes + bytes > maxPushBytes ? 'bytes' : undefined;
    if (reason === undefined) return true;
    this.#meters.peer_cache_write_through_drops_total.add(1, { reason });
    return false;
  }

  /** @param to asked when it is sent: members come and go */
  add(key: string, packed: Buffer, ttlMs: number, to: () => Peer | undefined): void {
    this.#remove(key);
    this.#waiting.set(key, { key, packed, ttlMs, madeMs: this.#clock.monotonicMs(), to });
    this.#hold(packed.byteLength);
    this.#next();
  }

  /** Forgets what waits under keys with this beginning. */
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

const maxEntries = 1_024;
const maxBytes = 16 * 1024 * 1024;
const maxTtlMs = 86_400_000;

interface Kept {
  readonly value: Buffer;
  readonly untilMs: number;
}

/**
 * Values that somebody with the token has set and no replica has framed: kept as they are and given back to who asks for them by hand, or
 * to other programs. No request is ever answered from them.
 */
export class ForeignValues {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #kept: ByteLru<Kept>;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
    this.#kept = new ByteLru({ maxEntries, maxBytes, clock });
  }

  set(key: string, value: Buffer, ttlMs: number): void {
    const keptMs = Math.min(ttlMs, maxTtlMs);
    const untilMs = this.#clock.monotonicMs() + keptMs;
    this.#kept.set(key, { value, untilMs }, value.byteLength, keptMs);
  }

  get(key: string): { readonly value: Buffer; readonly leftMs: number } | undefined {
    const kept = this.#kept.get(key);
    return kept && { value: kept.value, leftMs: kept.untilMs - this.#clock.monotonicMs() };
  }

  clear(): void {
    this.#kept.clear();
  }
}
