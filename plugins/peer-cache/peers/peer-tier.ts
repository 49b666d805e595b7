import type { AnswerHit, AnswerTier, TierFront } from '../../../core/cache/answer-tier.js';
import { frameBytes } from './frame.js';
import type { HotIndex } from './hot-index.js';
import type { Members } from './members.js';
import { largestSet, type Peer, type PeerHouse } from './peer.js';
import { PushQueue } from './push-queue.js';

/** What is fresh for less is not worth taking from elsewhere. */
export const minUsableMs = 5_000;
/** How long a process keeps what it has brought to another one. */
const shadowMs = 30_000;
/** Keys stand in the URL; those with the longest queries are not shared. */
const maxKeyLength = 64 * 1024;

export interface PeerTierOptions {
  readonly peerWriteThrough: boolean;
  readonly peerWriteThroughMinTtl: number;
}

/** The tier of the other replicas (L3): asks the one that owns a key, and brings it what was made here. */
export class PeerTier implements AnswerTier {
  readonly #options: PeerTierOptions;
  readonly #house: PeerHouse;
  readonly #members: Members;
  readonly #hot: HotIndex;
  readonly #pushes: PushQueue;
  /** Calls for a key are shared. */
  readonly #asked = new Map<string, Promise<AnswerHit | undefined>>();
  #front: TierFront | undefined;
  /** What is on its way when caches are emptied is not kept. */
  #epoch = 0;

  constructor(options: PeerTierOptions, house: PeerHouse, members: Members, hot: HotIndex) {
    this.#options = options;
    this.#house = house;
    this.#members = members;
    this.#hot = hot;
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

  get(key: string): Promise<AnswerHit | undefined> {
    const asked = this.#asked.get(key);
    if (asked !== undefined) return asked;
    const { ask } = this.#members.placeOf(key);
    if (ask.length === 0 || key.length > maxKeyLength) return Promise.resolve(undefined);
    const asking = this.#find(ask, key).finally(() => this.#asked.delete(key));
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
    if (this.shadowMs(key, packed, ttlMs) === undefined) return;
    this.#pushes.add(key, packed, ttlMs, () => this.#members.placeOf(key).home);
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
    return Promise.resolve();
  }

  async #find([first, second]: readonly Peer[], key: string): Promise<AnswerHit | undefined> {
    const { meters } = this.#house;
    // Whether the owner has it is asked meanwhile; the value crosses zones only where the own zone has none.
    const leftElsewhere = second?.leftOf(key);
    let hit = first && (await this.#ask(first, key));
    if (hit === undefined && second !== undefined && leftElsewhere !== undefined) {
      const isThere =
        (await settles(leftElsewhere, second.patience.ms)) && ((await leftElsewhere) ?? 0) >= minUsableMs;
      if (isThere) hit = await this.#ask(second, key);
    }
    (hit === undefined ? meters.peer_cache_misses_total : meters.peer_cache_hits_total).add(1, {});
    return hit;
  }

  /** Waits for the peer no longer than it usually takes; what comes later is kept for the next one. */
  async #ask(peer: Peer, key: string): Promise<AnswerHit | undefined> {
    const { meters } = this.#house;
    const head = { hasCome: false };
    const answer = peer.get(key, () => (head.hasCome = true));
    let isInTime = await settles(answer, peer.patience.ms);
    if (!isInTime && head.hasCome) isInTime = await settles(answer, peer.patience.restMs);
    if (!isInTime) {
      peer.patience.wasLate();
      meters.peer_cache_late_total.add(1, {});
      void this.#keepLater(key, answer);
    }
    return isInTime ? usable(await answer) : undefined;
  }

  async #keepLater(key: string, answer: Promise<AnswerHit | undefined>): Promise<void> {
    const epoch = this.#epoch;
    const hit = usable(await answer);
    if (hit !== undefined && epoch === this.#epoch) this.#front?.put(key, hit, false);
  }
}

function usable(hit: AnswerHit | undefined): AnswerHit | undefined {
  return hit === undefined || hit.leftMs < minUsableMs ? undefined : hit;
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
