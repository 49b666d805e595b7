import { createHash } from 'node:crypto';
import { dataOwner, inOrder, keyOf, type KeyParts, leftOut, scalar } from '../../core/base/key-parts.js';
import { createFingerprint, type Forwarding, tenantPart } from '../../core/cache/keys.js';
import { printSelector } from '../../core/logql/index.js';
import type { Exchange, Meters } from '../../core/plugin/index.js';
import type { PatternsRequest } from '../../core/wire/api/request.js';
import { ByteLru, type ByteLruOptions } from '../../core/base/memory/byte-lru.js';
import type { Yielding } from '../../core/base/memory/cache-room.js';
import type { Clock } from '../../core/base/clock.js';
import { msOfUnixNano, unixNano, type WrittenEntry } from '../../core/base/files/snapshot-json.js';
import type { SnapshotSource } from '../../core/base/files/kept-snapshot.js';
import { eachAtPace, type Pacer } from '../../core/base/pace/steps.js';
import type { keptPatternsMetrics } from './metrics.js';

/** An answer in the form in which it is sent. */
export interface KeptBody {
  readonly body: Buffer;
  readonly patterns: number;
  /** Unix milliseconds. */
  readonly updatedMs: number;
}

interface Kept extends KeptBody {
  readonly isPrivate: boolean;
}

/** Answers of another process by key, in order of use. */
export type StagedPatterns = ByteLru<KeptBody>;

/** The source of answers that this process has not made itself. */
export type Origin = 'disk' | 'peer';

const maxEntries = 10_000;
/** Maximum size of an answer: it is parsed in one turn of the event loop, and it must fit an entry of a snapshot. */
export const largestBody = 2 * 1024 * 1024;

/**
 * A cache of patterns of past time ranges, which do not change. They have no TTL; newer answers replace older ones. Snapshots persist them.
 */
export class PatternStore implements SnapshotSource, Yielding {
  readonly #entries: ByteLru<Kept>;
  readonly #meters: Meters<typeof keptPatternsMetrics>;
  readonly #bounds: Pick<ByteLruOptions, 'maxEntries' | 'maxBytes' | 'clock'>;
  #revision = 0;
  #patterns = 0;
  #bytes = 0;
  /** Contents of the last snapshot that was started. */
  #written = { entries: 0, patterns: 0 };

  constructor(
    maxBytes: number,
    clock: Pick<Clock, 'monotonicMs'>,
    meters: Meters<typeof keptPatternsMetrics>,
  ) {
    this.#meters = meters;
    this.#bounds = { maxEntries, maxBytes, clock };
    this.#entries = new ByteLru<Kept>({
      ...this.#bounds,
      observer: {
        resized: () => this.#show(),
        dropped: (reason) => meters.patterns_dropped_total.add(1, { reason }),
      },
      left: (kept) => this.#count(kept, -1),
    });
    this.#show();
  }

  limitTo(share: number): void {
    this.#entries.limitTo(share);
  }

  get(key: string): KeptBody | undefined {
    return this.#entries.get(key);
  }

  has(key: string): boolean {
    return this.#entries.peek(key) !== undefined;
  }

  /** Stores an answer of this process; false when it is too large. */
  set({ text, isPrivate }: PatternKey, kept: KeptBody): boolean {
    if (this.has(text)) this.#meters.patterns_deduplicated_total.add(1, { source: 'mem' });
    if (!this.#put(text, { ...kept, isPrivate })) return false;
    this.#meters.patterns_stored_total.add(kept.patterns, {});
    return true;
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  /** Drops all answers, or those of one tenant. */
  purge(tenantId?: string): void {
    if (tenantId === undefined) this.#entries.clear();
    else {
      const start = keysOfTenant(tenantId);
      for (const key of this.#entries.keys()) if (key.startsWith(start)) this.#entries.delete(key);
    }
  }

  revision(): number {
    return this.#revision;
  }

  entries(): Iterable<WrittenEntry> {
    this.#written = { entries: 0, patterns: 0 };
    return this.#print(this.#entries.keys(), this.#written);
  }

  /** As `entries`, the most recently used first. */
  latest(): Iterable<WrittenEntry> {
    return this.#print([...this.#entries.keys()].reverse(), { entries: 0, patterns: 0 });
  }

  *#print(
    keys: Iterable<string>,
    written: { entries: number; patterns: number },
  ): Generator<WrittenEntry, void, void> {
    for (const key of keys) {
      const kept = this.#entries.peek(key);
      if (kept === undefined || kept.isPrivate) continue;
      written.entries += 1;
      written.patterns += kept.patterns;
      yield {
        names: [key],
        json: `{"value":"${kept.body.toString('base64')}","updated_at_unix_nano":${unixNano(kept.updatedMs)},"pattern_count":${kept.patterns}}`,
      };
    }
  }

  /** Called when a snapshot was written. */
  wrote(bytes: number): void {
    const { meters, entries, patterns } = { meters: this.#meters, ...this.#written };
    meters.patterns_persist_writes_total.add(1, {});
    meters.patterns_persist_write_bytes_total.add(bytes, {});
    meters.patterns_persisted_disk_entries.set(entries, {});
    meters.patterns_persisted_disk_patterns.set(patterns, {});
    meters.patterns_persisted_disk_bytes.set(bytes, {});
  }

  /** Number of stored answers. */
  get size(): number {
    return this.#entries.entries;
  }

  /** A buffer for answers of another process, which are taken once all of them have been read. */
  stage(): StagedPatterns {
    return new ByteLru<KeptBody>(this.#bounds);
  }

  /** Stores answers of another process, unless newer ones are known. Resolves to the number stored. */
  async take(staged: StagedPatterns, origin: Origin, pacer: Pacer): Promise<number> {
    let taken = 0;
    await eachAtPace(staged.keys(), pacer, (key) => {
      const found = staged.peek(key);
      if (found === undefined) return;
      const known = this.#entries.peek(key);
      if (known !== undefined) this.#meters.patterns_deduplicated_total.add(1, { source: origin });
      if (known !== undefined && known.updatedMs >= found.updatedMs) return;
      if (!this.#put(key, { ...found, isPrivate: false })) return;
      taken += 1;
      this.#countRestored(origin, found);
    });
    return taken;
  }

  #countRestored(origin: Origin, { patterns, body }: KeptBody): void {
    const meters = this.#meters;
    const [all, entries, bytes] =
      origin === 'disk'
        ? [
            meters.patterns_restored_from_disk_total,
            meters.patterns_restored_disk_entries_total,
            meters.patterns_restored_disk_bytes_total,
          ]
        : [
            meters.patterns_restored_from_peers_total,
            meters.patterns_restored_peer_entries_total,
            meters.patterns_restored_peer_bytes_total,
          ];
    all.add(patterns, {});
    entries.add(1, {});
    bytes.add(body.length, {});
  }

  #put(key: string, kept: Kept): boolean {
    if (kept.body.length > largestBody) {
      this.#meters.patterns_dropped_total.add(1, { reason: 'refused' });
      return false;
    }
    if (!this.#entries.set(key, kept, kept.body.length, Infinity)) return false;
    this.#count(kept, 1);
    this.#show();
    return true;
  }

  #count({ patterns, body, isPrivate }: Kept, sign: 1 | -1): void {
    this.#patterns += sign * patterns;
    this.#bytes += sign * body.length;
    if (!isPrivate) this.#revision += 1;
  }

  #show(): void {
    this.#meters.patterns_in_memory.set(this.#patterns, {});
    this.#meters.patterns_cache_keys.set(this.#entries.entries, {});
    this.#meters.patterns_in_memory_bytes.set(this.#bytes, {});
  }
}

/**
 * Adds an entry of a snapshot to the buffer. Returns false for an entry of another setup, and for one from the future, which means that the
 * clock was set back.
 */
export function stageEntry(
  staged: StagedPatterns,
  { setup, nowMs }: { readonly setup: string; readonly nowMs: number },
  [key = '']: readonly string[],
  entry: unknown,
): boolean {
  const {
    value,
    updated_at_unix_nano: updated,
    pattern_count: patterns,
  } = entry as Partial<Record<string, unknown>>;
  if (typeof value !== 'string' || typeof patterns !== 'number') throw new Error('no answer with patterns');
  const updatedMs = msOfUnixNano(updated);
  if (!isOfSetup(key, setup) || updatedMs > nowMs) return false;
  const body = Buffer.from(value, 'base64');
  staged.set(key, { body, patterns, updatedMs }, body.length, Infinity);
  return true;
}

export interface PatternKey {
  readonly text: string;
  /** True if the answer may depend on the credentials sent to the backend: it is neither persisted nor shared. */
  readonly isPrivate: boolean;
}

/** Makes the key of a request. Throws LogqlError for a selector that cannot be parsed. */
export type PatternKeys = (exchange: Exchange<'tenant'>, request: PatternsRequest) => PatternKey;

/** Parameters that appear in the key. */
const asked = { query: scalar, start: scalar, end: scalar, step: scalar };
/** Other fields that answers depend on. They rarely differ, so the key has only their hash. */
const usual: KeyParts<Omit<PatternsRequest, 'op'>> = {
  query: leftOut('asked for'),
  range: leftOut('asked for'),
  stepNs: leftOut('asked for'),
  limit: scalar,
  search: { maxRows: scalar, secondPassMaxRows: scalar, secondPassMaxWindows: scalar, custom: inOrder },
};

/**
 * `patterns:<tenant>:query=...&start=<ns>&end=<ns>&step=<ns>&usual=<hash>&setup=<setup>[:auth:<fingerprint>]`
 * @param setup of core/cache/keys.ts
 */
export function patternKeys(forwarding: Forwarding, setup: string): PatternKeys {
  const fingerprintOf = createFingerprint(forwarding);
  return ({ caller, slots }, request) => {
    const { startNs: start, endNs: end } = request.range;
    const query = printSelector(request.query);
    const question = keyOf(asked, { query, start, end, step: request.stepNs });
    const rest = hashOf(`${dataOwner(slots.tenant)} ${keyOf(usual, request)}`);
    const fingerprint = fingerprintOf(caller.headers);
    const text = `patterns:${tenantPart(slots.tenant.id)}:${question}&usual=${rest}${setupPart(setup)}`;
    return fingerprint === undefined
      ? { text, isPrivate: false }
      : { text: `${text}:auth:${fingerprint}`, isPrivate: true };
  };
}

/** Tells whether a key from a file or a peer belongs to this setup. */
export function isOfSetup(key: string, setup: string): boolean {
  return key.startsWith('patterns:') && key.endsWith(setupPart(setup));
}

/** The common prefix of all keys of a tenant. */
export function keysOfTenant(tenantId: string): string {
  return `patterns:${tenantPart(tenantId)}:`;
}

function setupPart(setup: string): string {
  return `&setup=${setup}`;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
