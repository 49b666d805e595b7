import type { Clock } from '../base/clock.js';
import { msOfUnixNano, unixNano, type OtherMembers, type WrittenEntry } from '../base/files/snapshot-json.js';
import type { SnapshotSource } from '../base/files/kept-snapshot.js';
import { hasCredentials, ownersOfTenant } from '../base/keys/data-owner.js';
import { ByteLru, type ByteLruOptions } from '../base/memory/byte-lru.js';
import type { Pacer } from '../base/pace/pacer.js';
import { eachAtPace } from '../base/pace/steps.js';
import type { FactCodec } from './metric/count/fact-codecs.js';
import type { StreamChecksums } from './metric/count/stream-listing.js';
import { keptMs, type SegmentFinding } from './metric/count/segment-findings.js';

/** A memory of one kind of findings that are worth keeping and sharing. */
export interface FactMemory {
  readonly name: string;
  readonly memory: Pick<ByteLru<SegmentFinding>, 'entries' | 'keys' | 'peek' | 'leftMs' | 'set' | 'delete'>;
  readonly limits: Pick<ByteLruOptions, 'maxEntries' | 'maxBytes'>;
  readonly codec: FactCodec<SegmentFinding>;
}

/** Maximum size of a fact; larger ones are not written, because each is written and read in one step. */
const largestFact = 1 << 20;

/**
 * Findings by time segment, in a form that outlives the process and that other replicas accept. A finding is only used while the checksum
 * of its segment equals that of the backend's current listing, so old ones do no harm. The salt of the checksums is stored with them.
 */
export class Facts implements SnapshotSource {
  readonly #memories: readonly FactMemory[];
  readonly #checksums: StreamChecksums;
  readonly #clock: Clock;
  readonly #revision: () => number;

  /** @param revision a number that changes whenever one of the memories has changed */
  constructor(
    memories: readonly FactMemory[],
    checksums: StreamChecksums,
    clock: Clock,
    revision: () => number,
  ) {
    this.#memories = memories;
    this.#checksums = checksums;
    this.#clock = clock;
    this.#revision = revision;
  }

  get size(): number {
    return this.#memories.reduce((sum, { memory }) => sum + memory.entries, 0);
  }

  revision(): number {
    return this.#revision();
  }

  others(): OtherMembers {
    return { salt: this.#checksums.salt };
  }

  *entries(): Generator<WrittenEntry, void, void> {
    for (const of of this.#memories) for (const key of of.memory.keys()) yield* this.#print(of, key);
  }

  /** As `entries`, with the most recently used ones first, of all memories in turn. */
  *latest(): Generator<WrittenEntry, void, void> {
    const all = this.#memories.map((of) => ({ of, keys: [...of.memory.keys()].reverse() }));
    const most = Math.max(...all.map(({ keys }) => keys.length));
    for (let at = 0; at < most; at += 1)
      for (const { of, keys } of all) {
        const key = keys[at];
        if (key !== undefined) yield* this.#print(of, key);
      }
  }

  *#print(of: FactMemory, key: string): Generator<WrittenEntry, void, void> {
    const fact = of.memory.peek(key);
    if (fact === undefined || hasCredentials(ownerOf(key)) || of.codec.bytesOf(fact) > largestFact) return;
    const expires = unixNano(this.#clock.nowMs() + of.memory.leftMs(key));
    const json = `{"expires_at_unix_nano":${expires},"fact":${JSON.stringify(of.codec.print(fact))}}`;
    yield { names: [`${of.name} ${key}`], json };
  }

  /** Adopts the salt of facts that are about to be taken. Throws for an invalid salt. */
  takeSalt(salt: unknown): void {
    this.#checksums.takeOver(salt);
  }

  /** Creates a container for facts of another process, which are taken only after all of them were read. */
  stage(): StagedFacts {
    return new StagedFacts(this.#memories, this.#clock);
  }

  /** Takes facts whose salt was adopted, except those that are already known. Resolves to the number of facts taken. */
  async take({ memories }: StagedFacts, pacer: Pacer): Promise<number> {
    let taken = 0;
    for (const { of, memory } of memories)
      await eachAtPace(memory.keys(), pacer, (key) => {
        const fact = memory.peek(key);
        if (fact === undefined || of.memory.peek(key) !== undefined) return;
        if (of.memory.set(key, fact, of.codec.bytesOf(fact), memory.leftMs(key))) taken += 1;
      });
    return taken;
  }

  /** Drops all facts, or those of one tenant. */
  purge(tenantId?: string): void {
    const start = tenantId === undefined ? '' : ownersOfTenant(tenantId);
    for (const { memory } of this.#memories)
      for (const key of memory.keys()) if (ownerOf(key).startsWith(start)) memory.delete(key);
  }
}

/** Facts of another process by key, in order of use, with the same bounds as those of this process. */
export class StagedFacts {
  readonly memories: readonly { readonly of: FactMemory; readonly memory: ByteLru<SegmentFinding> }[];
  readonly #clock: Clock;

  constructor(memories: readonly FactMemory[], clock: Clock) {
    this.memories = memories.map((of) => ({
      of,
      memory: new ByteLru<SegmentFinding>({ ...of.limits, clock }),
    }));
    this.#clock = clock;
  }

  /** Adds an entry as written by `Facts.entries`. Throws for an invalid one. */
  add([text = '']: readonly string[], json: unknown): void {
    const end = text.indexOf(' ');
    const [name, key] = [text.slice(0, end), text.slice(end + 1)];
    const found = this.memories.find(({ of }) => of.name === name);
    if (found === undefined) throw new Error('a fact of no kind');
    const { expires_at_unix_nano: expires, fact: form } = json as Partial<Record<string, unknown>>;
    const fact = found.of.codec.parse(form);
    // If the clock was set back, entries must not live longer.
    const leftMs = Math.min(keptMs, msOfUnixNano(expires) - this.#clock.nowMs());
    found.memory.set(key, fact, found.of.codec.bytesOf(fact), leftMs);
  }
}

/** Returns the owner of a key. Keys are JSON arrays that start with the owner of the data, which contains no quotes. */
function ownerOf(key: string): string {
  return key.slice(2, key.indexOf('"', 2));
}
