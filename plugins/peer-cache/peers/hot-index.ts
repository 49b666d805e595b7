import { PeerFailure } from './client.js';
import type { Clock } from '../../../core/base/clock.js';
import { eachAtPace, Pacer } from '../../../core/base/pace/steps.js';

/** Maximum number of keys counted per period; further ones are not counted. */
const maxKeys = 50_000;
/** Length of a period. Uses in the previous period count half. */
const periodMs = 300_000;

export interface HotKey {
  readonly key: string;
  readonly score: number;
}

/** Counts the recent uses of keys (L0). Bounded. */
export class HotIndex {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #now = new Map<string, number>();
  #before = new Map<string, number>();
  #endsMs: number;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
    this.#endsMs = clock.monotonicMs() + periodMs;
  }

  used(key: string): void {
    this.#turn();
    const uses = this.#now.get(key);
    if (uses !== undefined || this.#now.size < maxKeys) this.#now.set(key, (uses ?? 0) + 1);
  }

  /** Forgets keys with this prefix. */
  clear(prefix = ''): void {
    for (const uses of [this.#now, this.#before])
      if (prefix === '') uses.clear();
      else for (const key of uses.keys()) if (key.startsWith(prefix)) uses.delete(key);
  }

  /** The most used of the wanted keys, in order of use. */
  async top(limit: number, isWanted: (key: string) => boolean): Promise<readonly HotKey[]> {
    this.#turn();
    let best: HotKey[] = [];
    await eachAtPace([...new Set([...this.#now.keys(), ...this.#before.keys()])], new Pacer(), (key) => {
      if (!isWanted(key)) return;
      best.push({ key, score: (this.#now.get(key) ?? 0) + (this.#before.get(key) ?? 0) / 2 });
      if (best.length >= 2 * limit) best = firstOf(best, limit);
    });
    return firstOf(best, limit);
  }

  #turn(): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs < this.#endsMs) return;
    this.#before = nowMs < this.#endsMs + periodMs ? this.#now : new Map<string, number>();
    this.#now = new Map();
    this.#endsMs = nowMs + periodMs;
  }
}

function firstOf(keys: HotKey[], limit: number): HotKey[] {
  return keys.sort((a, b) => b.score - a.score || (a.key < b.key ? -1 : 1)).slice(0, limit);
}

/** Maximum size in bytes of a replica's hot index, and maximum number of keys in it. */
export const largestHot = 4 * 1024 * 1024;
export const maxHot = 2_000;

/** A frequently used key of a replica, as published to others (`GET /_cache/hot`). */
export interface HotEntry {
  readonly key: string;
  readonly tenant: string;
  readonly score: number;
  readonly size_bytes: number;
  readonly remaining_ttl_ms: number;
}

/** The index as it is sent: as many entries as fit. */
export function hotIndexOf(owner: string, entries: Iterable<HotEntry>): object {
  const told: HotEntry[] = [];
  let room = largestHot - 1024;
  for (const entry of entries) {
    room -= Buffer.byteLength(JSON.stringify(entry)) + 1;
    if (room < 0) break;
    told.push(entry);
  }
  return { owner, entries: told };
}

/** Reads a hot index; throws PeerFailure if it is invalid. */
export function hotEntriesOf(index: unknown): readonly HotEntry[] {
  const { entries } = (typeof index === 'object' && index !== null ? index : {}) as {
    readonly entries?: unknown;
  };
  if (!Array.isArray(entries)) throw new PeerFailure('decode', 'its answer is not an index of cache keys');
  return entries.slice(0, maxHot).map(entryOf);
}

function entryOf(value: unknown): HotEntry {
  const { key, tenant, score, size_bytes, remaining_ttl_ms } = (value ?? {}) as Partial<
    Record<string, unknown>
  >;
  if (
    typeof key !== 'string' ||
    typeof tenant !== 'string' ||
    !isCount(score) ||
    !isCount(size_bytes) ||
    !isCount(remaining_ttl_ms)
  )
    throw new PeerFailure('decode', 'its answer has a malformed entry');
  return { key, tenant, score, size_bytes, remaining_ttl_ms };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && Number.isFinite(value);
}
