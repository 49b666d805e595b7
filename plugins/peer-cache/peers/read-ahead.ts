import { ofKey } from '../../../core/base/memory/byte-lru.js';
import { tenantOf } from '../../../core/cache/keys.js';
import type { HotEntry } from './hot-index.js';
import type { PeerCacheOptions } from '../../../core/base/options.gen.js';
import { inParallel } from '../../../core/base/pace/in-parallel.js';
import type { TierFront } from '../../../core/cache/answer-tier.js';
import type { Peer, PeerHouse } from './peer.js';
import { startTimer } from '../../../core/base/time/waits.js';

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
  /** Tells whether the process is idle. */
  readonly isFree: () => boolean;
}

type AheadPeer = Pick<Peer, 'isUp' | 'hot' | 'get'>;

/** A key with the peer that published it. */
interface Candidate extends HotEntry {
  readonly peer: AheadPeer;
}

/** Maximum number of keys considered in a round; the least used ones are dropped. */
const maxCandidates = 8_000;
/** Maximum number of consecutive failures that lengthen the pause. */
const longestStreak = 4;

/** Prefetches, periodically, the most used keys of other replicas. Bounded in each round. */
export class ReadAhead {
  readonly #settings: ReadAheadSettings;
  readonly #budget: AheadBudget;
  /** Consecutive failures of a peer, and the end of the pause in which it is not asked. */
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
    const waitMs = peerHotReadAheadInterval + Math.random() * peerHotReadAheadJitter;
    this.#timer = startTimer(() => void this.round(front).then(() => this.start(front)), waitMs).unref();
  }

  stop(): void {
    this.#stopped.abort();
    clearTimeout(this.#timer);
  }

  /** Runs one round. Never rejects. */
  async round(front: TierFront): Promise<void> {
    if (!this.#settings.isFree()) return;
    const { peer_cache_read_ahead_budget_drops_total, peer_cache_read_ahead_tenant_skips_total } =
      this.#settings.house.meters;
    const { chosen, dropped, passedOver } = chooseAhead(await this.#candidates(front), this.#budget);
    peer_cache_read_ahead_budget_drops_total.add(dropped, {});
    peer_cache_read_ahead_tenant_skips_total.add(passedOver, {});
    await this.#each(chosen, (told) => this.#fetch(told, front));
  }

  /** The most used keys of all peers that this process lacks, in order of use. */
  async #candidates(front: TierFront): Promise<readonly Candidate[]> {
    const { house, members, options } = this.#settings;
    const nowMs = house.clock.monotonicMs();
    const asked = members.peers.filter(
      (peer) => peer.isUp && nowMs >= (this.#failures.get(peer)?.untilMs ?? -Infinity),
    );
    let all: Candidate[] = [];
    await this.#each(asked, async (peer) => {
      house.meters.peer_cache_hot_index_requests_total.add(1, {});
      const entries = await peer.hot(options.peerHotReadAheadTopN);
      if (entries === undefined) house.meters.peer_cache_hot_index_errors_total.add(1, {});
      this.#note(peer, entries !== undefined);
      for (const entry of entries ?? []) if (this.#isMissing(entry, front)) all.push({ ...entry, peer });
      all = all.sort(byWant).slice(0, maxCandidates);
    });
    return all;
  }

  #isMissing({ key }: HotEntry, front: TierFront): boolean {
    return front.isOwn(key) && !((front.peek(key)?.leftMs ?? 0) >= this.#budget.minTtlMs);
  }

  async #fetch({ peer, key, size_bytes: publishedBytes }: Candidate, front: TierFront): Promise<void> {
    const { meters } = this.#settings.house;
    const told = await peer.get(key, { isAhead: true });
    this.#note(peer, told !== undefined);
    if (told?.hit === undefined || this.#stopped.signal.aborted) return;
    const { byteLength } = told.hit.packed;
    // The budget was divided by the published sizes.
    if (byteLength > publishedBytes) meters.peer_cache_read_ahead_budget_drops_total.add(1, {});
    else if (front.put(key, told.hit, false)) {
      meters.peer_cache_read_ahead_prefetches_total.add(1, {});
      meters.peer_cache_read_ahead_prefetch_bytes_total.add(byteLength, {});
    }
  }

  /** Works on several parts concurrently; stops when the process is busy or ends. */
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

/** Bounds of a round. */
export interface AheadBudget {
  readonly maxKeys: number;
  readonly maxBytes: number;
  readonly maxObjectBytes: number;
  readonly minTtlMs: number;
  /** Percentage of the keys and bytes that one tenant gets in the first pass. */
  readonly tenantShare: number;
}

export interface AheadChoice<Entry> {
  /** Chosen entries, the best first; those above the share of their tenant come last. */
  readonly chosen: readonly Entry[];
  /** Number of entries that did not fit. */
  readonly dropped: number;
  /** Number of entries skipped in the first pass, because their tenant had its share. */
  readonly passedOver: number;
}

/** Sorts by number of uses, then by remaining TTL. */
export function byWant(a: HotEntry, b: HotEntry): number {
  return b.score - a.score || b.remaining_ttl_ms - a.remaining_ttl_ms || (a.key < b.key ? -1 : 1);
}

/**
 * Chooses in two passes: first up to the share of each tenant, then from all that is left.
 * @param entries in order of use
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
    // The tenant is taken from the key, whatever the index claims.
    const tenant = tenantOf(entry.key);
    const share = ofKey(
      shares,
      tenant,
      () => new Room(Math.max(1, part(maxKeys, tenantShare)), part(maxBytes, tenantShare)),
    );
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
