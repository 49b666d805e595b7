/** Which keys of other replicas are fetched before somebody asks for them here. */
import { tenantOf } from '../../../core/cache/keys.js';
import type { HotEntry } from './hot-entries.js';

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
