import { tenantOf } from '../../../core/cache/keys.js';
import type { HotEntry } from './hot-index.js';
import type { PeerCacheOptions } from '../../../core/base/options.gen.js';
import { inParallel } from '../../../core/base/pace/in-parallel.js';
import type { TierFront } from '../../../core/cache/answer-tier.js';
import type { Peer, PeerHouse } from './peer.js';

export type ReadAheadOptions = Pick<
  PeerCacheOptions,
  | 'peerHotReadAheadEnabled'
  | 'peerHotReadAheadInterval'
  | 'peerHotReadAheadJitter'
  | 'peerHotReadAheadTopN'
  | 'peerHotReadAheadMaxKeysPerInterval'
  | 'peerHotReadAheadMaxBytesPerInterval'
  | 'peerHotReadAheadMaxConcurrency'
  | 'peerHotReadAheadMinTtl'
  | 'peerHotReadAheadMaxObjectBytes'
  | 'peerHotReadAheadTenantFairShare'
  | 'peerHotReadAheadErrorBackoff'
>;

export interface ReadAheadSettings {
  readonly options: ReadAheadOptions;
  readonly house: Pick<PeerHouse, 'clock' | 'meters'>;
  readonly members: { readonly peers: readonly AheadPeer[] };
  /** Whether the process has nothing better to do. */
  readonly isFree: () => boolean;
}

type AheadPeer = Pick<Peer, 'isUp' | 'hot' | 'get'>;

/** A key, and who told of it. */
interface Told extends HotEntry {
  readonly peer: AheadPeer;
}

/** Keys of all replicas that are thought about in a round; those asked for less go. */
const maxTold = 8_000;
const longestTimerMs = 2 ** 31 - 1;
/** More failures in a row make the pause after them no longer. */
const longestStreak = 4;

/** Fetches, again and again, what other replicas are asked for most, so that it is there when it is asked for here. Bounded in each round. */
export class ReadAhead {
  readonly #settings: ReadAheadSettings;
  readonly #budget: AheadBudget;
  /** Failures in a row of a peer, and until when it is left alone. */
  readonly #failures = new WeakMap<AheadPeer, { readonly streak: number; readonly untilMs: number }>();
  readonly #stopped = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(settings: ReadAheadSettings) {
    const { options } = settings;
    this.#settings = settings;
    this.#budget = {
      maxKeys: options.peerHotReadAheadMaxKeysPerInterval,
      maxBytes: options.peerHotReadAheadMaxBytesPerInterval,
      maxObjectBytes: options.peerHotReadAheadMaxObjectBytes,
      minTtlMs: options.peerHotReadAheadMinTtl,
      tenantShare: options.peerHotReadAheadTenantFairShare,
    };
  }

  start(front: TierFront): void {
    const { peerHotReadAheadEnabled, peerHotReadAheadInterval, peerHotReadAheadJitter } =
      this.#settings.options;
    if (!peerHotReadAheadEnabled || this.#stopped.signal.aborted) return;
    const waitMs = Math.min(
      peerHotReadAheadInterval + Math.random() * peerHotReadAheadJitter,
      longestTimerMs,
    );
    this.#timer = setTimeout(() => void this.round(front).then(() => this.start(front)), waitMs).unref();
  }

  stop(): void {
    this.#stopped.abort();
    clearTimeout(this.#timer);
  }

  /** Never fails. */
  async round(front: TierFront): Promise<void> {
    if (!this.#settings.isFree()) return;
    const { peer_cache_read_ahead_budget_drops_total, peer_cache_read_ahead_tenant_skips_total } =
      this.#settings.house.meters;
    const { chosen, dropped, passedOver } = chooseAhead(await this.#told(front), this.#budget);
    peer_cache_read_ahead_budget_drops_total.add(dropped, {});
    peer_cache_read_ahead_tenant_skips_total.add(passedOver, {});
    await this.#each(chosen, (told) => this.#fetch(told, front));
  }

  /** What all of them tell that is of use here, in the order in which it is wanted. */
  async #told(front: TierFront): Promise<readonly Told[]> {
    const { house, members, options } = this.#settings;
    const nowMs = house.clock.monotonicMs();
    const asked = members.peers.filter(
      (peer) => peer.isUp && nowMs >= (this.#failures.get(peer)?.untilMs ?? -Infinity),
    );
    let all: Told[] = [];
    await this.#each(asked, async (peer) => {
      house.meters.peer_cache_hot_index_requests_total.add(1, {});
      const entries = await peer.hot(options.peerHotReadAheadTopN);
      if (entries === undefined) house.meters.peer_cache_hot_index_errors_total.add(1, {});
      this.#note(peer, entries !== undefined);
      for (const entry of entries ?? []) if (this.#isMissing(entry, front)) all.push({ ...entry, peer });
      all = all.sort(byWant).slice(0, maxTold);
    });
    return all;
  }

  #isMissing({ key }: HotEntry, front: TierFront): boolean {
    return front.isOwn(key) && !((front.peek(key)?.leftMs ?? 0) >= this.#budget.minTtlMs);
  }

  async #fetch({ peer, key, size_bytes: toldBytes }: Told, front: TierFront): Promise<void> {
    const { meters } = this.#settings.house;
    const told = await peer.get(key, { isAhead: true });
    this.#note(peer, told !== undefined);
    if (told?.hit === undefined || this.#stopped.signal.aborted) return;
    const { byteLength } = told.hit.packed;
    // The budget was divided by what was told.
    if (byteLength > toldBytes) meters.peer_cache_read_ahead_budget_drops_total.add(1, {});
    else if (front.put(key, told.hit, false)) {
      meters.peer_cache_read_ahead_prefetches_total.add(1, {});
      meters.peer_cache_read_ahead_prefetch_bytes_total.add(byteLength, {});
    }
  }

  /** A few at once, and none any more when the process has more to do or ends. */
  async #each<Part>(parts: readonly Part[], work: (part: Part) => Promise<void>): Promise<void> {
    const { isFree, options } = this.#settings;
    const { signal } = this.#stopped;
    await inParallel(
      parts,
      options.peerHotReadAheadMaxConcurrency,
      async (part) => (!signal.aborted && isFree() ? work(part) : undefined),
      new AbortController().signal,
    );
  }

  #note(peer: AheadPeer, isAnswered: boolean): void {
    if (isAnswered) {
      this.#failures.delete(peer);
      return;
    }
    const streak = Math.min(longestStreak, (this.#failures.get(peer)?.streak ?? 0) + 1);
    const backoffMs = streak * this.#settings.options.peerHotReadAheadErrorBackoff;
    this.#failures.set(peer, { streak, untilMs: this.#settings.house.clock.monotonicMs() + backoffMs });
  }
}

/** Which keys of other replicas are fetched before somebody asks for them here. */

/** Bounds of a round. */
export interface AheadBudget {
  readonly maxKeys: number;
  readonly maxBytes: number;
  readonly maxObjectBytes: number;
  readonly minTtlMs: number;
  /** What one tenant gets of the keys and of the bytes while others have not been looked at, in percent. */
  readonly tenantShare: number;
}

export interface AheadChoice<Entry> {
  /** The best first, of which those over the share of their tenant come last. */
  readonly chosen: readonly Entry[];
  /** So many had no room. */
  readonly dropped: number;
  /** So many were passed over at first, as their tenant had its share. */
  readonly passedOver: number;
}

/** The order in which they are wanted: asked for most, fresh longest. */
export function byWant(a: HotEntry, b: HotEntry): number {
  return b.score - a.score || b.remaining_ttl_ms - a.remaining_ttl_ms || (a.key < b.key ? -1 : 1);
}

/**
 * Chooses in two passes: up to the share of each tenant, and then from all that is left.
 * @param entries in the order in which they are wanted
 */
export function chooseAhead<Entry extends HotEntry>(
  entries: readonly Entry[],
  { maxKeys, maxBytes, maxObjectBytes, minTtlMs, tenantShare }: AheadBudget,
): AheadChoice<Entry> {
  const wanted = new Map<string, Entry>();
  for (const entry of entries)
    if (
      entry.remaining_ttl_ms >= minTtlMs &&
      entry.size_bytes > 0 &&
      entry.size_bytes <= maxObjectBytes &&
      !wanted.has(entry.key)
    )
      wanted.set(entry.key, entry);
  const round = new Room(maxKeys, maxBytes);
  const shares = new Map<string, Room>();
  const chosen: Entry[] = [];
  const rest: Entry[] = [];
  let passedOver = 0;
  for (const entry of wanted.values()) {
    // The tenant in the key is whose value it is, whatever the index says.
    const tenant = tenantOf(entry.key);
    let share = shares.get(tenant);
    if (share === undefined) {
      share = new Room(Math.max(1, part(maxKeys, tenantShare)), part(maxBytes, tenantShare));
      shares.set(tenant, share);
    }
    const isInShare = share.has(entry);
    if (!isInShare) passedOver += 1;
    if (!isInShare || !round.has(entry)) rest.push(entry);
    else {
      share.take(entry);
      round.take(entry);
      chosen.push(entry);
    }
  }
  let dropped = 0;
  for (const entry of rest) {
    if (round.has(entry)) {
      round.take(entry);
      chosen.push(entry);
    } else dropped += 1;
  }
  return { chosen, dropped, passedOver };
}

class Room {
  #keys: number;
  #bytes: number;

  constructor(keys: number, bytes: number) {
    this.#keys = keys;
    this.#bytes = bytes;
  }

  has({ size_bytes: bytes }: HotEntry): boolean {
    return this.#keys >= 1 && bytes <= this.#bytes;
  }

  take({ size_bytes: bytes }: HotEntry): void {
    this.#keys -= 1;
    this.#bytes -= bytes;
  }
}

function part(whole: number, percent: number): number {
  return Math.floor((whole * percent) / 100);
}
