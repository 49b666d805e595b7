import type { PeerCacheOptions } from '../../../core/base/options.gen.js';
import { inParallel } from '../../../core/base/pace/in-parallel.js';
import type { TierFront } from '../../../core/cache/answer-tier.js';
import { byWant, chooseAhead, type AheadBudget } from './ahead-choice.js';
import type { HotEntry } from './hot-entries.js';
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
