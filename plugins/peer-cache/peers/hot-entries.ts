import { PeerFailure } from './client.js';

/** The most bytes of the index of what a replica was asked for most, and the most keys in it. */
export const largestHot = 4 * 1024 * 1024;
export const maxHot = 2_000;

/** A key that a replica was asked for often, as it tells others (`GET /_cache/hot`). */
export interface HotEntry {
  readonly key: string;
  readonly tenant: string;
  readonly score: number;
  readonly size_bytes: number;
  readonly remaining_ttl_ms: number;
}

/** The index as it is sent: the first ones that there is room for. */
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

/** Throws PeerFailure for what is no such index. */
export function hotEntriesOf(body: Buffer): readonly HotEntry[] {
  let index: unknown;
  try {
    index = JSON.parse(body.toString('utf8'));
  } catch (error) {
    throw new PeerFailure('decode', 'its answer is not JSON', error);
  }
  const { entries } = (typeof index === 'object' && index !== null ? index : {}) as {
    readonly entries?: unknown;
  };
  if (!Array.isArray(entries)) throw new PeerFailure('decode', 'its answer is no index of keys');
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
    throw new PeerFailure('decode', 'its answer has an entry that is none');
  return { key, tenant, score, size_bytes, remaining_ttl_ms };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && Number.isFinite(value);
}
