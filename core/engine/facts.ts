import type { Clock } from '../base/clock.js';
import { msOfUnixNano, unixNano, type OtherMembers, type WrittenEntry } from '../base/files/snapshot-json.js';
import type { SnapshotSource } from '../base/files/kept-snapshot.js';
import { hasCredentials, ownersOfTenant } from '../base/key-parts.js';
import { ByteLru, type ByteLruOptions } from '../base/memory/byte-lru.js';
import { eachAtPace, type Pacer } from '../base/pace/steps.js';
import { parseFact, printFact } from './metric/count/fact-codecs.js';
import { bytesOfProfile, type SegmentProfile } from './metric/count/profile.js';
import type { StreamChecksums } from './metric/count/stream-listing.js';
import { keptMs } from './metric/count/segment-findings.js';

type FactLimits = Pick<ByteLruOptions, 'maxEntries' | 'maxBytes'>;

/** The start of the names of facts. */
const kind = 'stretches ';

/** Maximum size of a fact; larger ones are not written, because each is written and read in one step. */
const largestFact = 1 << 20;

/**
 * Findings by time segment, in a form that outlives the process and that other replicas accept. A finding is only used while the checksum
 * of its segment equals that of the backend's current listing, so old ones do no harm. The salt of the checksums is stored with them.
 */
export class Facts implements SnapshotSource {
  readonly #memory: ByteLru<SegmentProfile>;
  readonly #limits: FactLimits;
  readonly #checksums: StreamChecksums;
  readonly #clock: Clock;
  readonly #revision: () => number;

  /**
   * @param limits of the memory
   * @param revision a number that changes whenever the memory has changed
   */
  constructor(
    memory: ByteLru<SegmentProfile>,
    limits: FactLimits,
    checksums: StreamChecksums,
    clock: Clock,
    revision: () => number,
  ) {
    this.#memory = memory;
    this.#limits = limits;
    this.#checksums = checksums;
    this.#clock = clock;
    this.#revision = revision;
  }

  get size(): number {
    return this.#memory.entries;
  }

  revision(): number {
    return this.#revision();
  }

  others(): OtherMembers {
    return { salt: this.#checksums.salt };
  }

  *entries(): Generator<WrittenEntry, void, void> {
    for (const key of this.#memory.keys()) yield* this.#print(key);
  }

  /** As `entries`, with the most recently used ones first. */
  *latest(): Generator<WrittenEntry, void, void> {
    for (const key of [...this.#memory.keys()].reverse()) yield* this.#print(key);
  }

  *#print(key: string): Generator<WrittenEntry, void, void> {
    const fact = this.#memory.peek(key);
    if (fact === undefined || hasCredentials(ownerOf(key)) || bytesOfProfile(fact) > largestFact) return;
    const expires = unixNano(this.#clock.nowMs() + this.#memory.leftMs(key));
    const json = `{"expires_at_unix_nano":${expires},"fact":${printFact(fact)}}`;
    yield { names: [kind + key], json };
  }

  /** Adopts the salt of facts that are about to be taken. Throws for an invalid salt. */
  takeSalt(salt: unknown): void {
    this.#checksums.takeOver(salt);
  }

  /** Creates a container for facts of another process, which are taken only after all of them were read. */
  stage(): StagedFacts {
    return new StagedFacts(this.#limits, this.#clock);
  }

  /** Takes facts whose salt was adopted, except those that are already known. Resolves to the number of facts taken. */
  async take({ memory: staged }: StagedFacts, pacer: Pacer): Promise<number> {
    const memory = this.#memory;
    let taken = 0;
    await eachAtPace(staged.keys(), pacer, (key) => {
      const fact = staged.peek(key);
      if (fact === undefined || memory.peek(key) !== undefined) return;
      if (memory.set(key, fact, bytesOfProfile(fact), staged.leftMs(key))) taken += 1;
    });
    return taken;
  }

  /** Drops all facts, or those of one tenant. */
  purge(tenantId?: string): void {
    const start = tenantId === undefined ? '' : ownersOfTenant(tenantId);
    for (const key of this.#memory.keys()) if (ownerOf(key).startsWith(start)) this.#memory.delete(key);
  }
}

/** Facts of another process by key, in order of use, with the same bounds as those of this process. */
export class StagedFacts {
  readonly memory: ByteLru<SegmentProfile>;
  readonly #clock: Clock;

  constructor(limits: FactLimits, clock: Clock) {
    this.memory = new ByteLru<SegmentProfile>({ ...limits, clock });
    this.#clock = clock;
  }

  /** Adds an entry as written by `Facts.entries`. Throws for an invalid one. */
  add([text = '']: readonly string[], json: unknown): void {
    if (!text.startsWith(kind)) throw new Error('a fact of no kind');
    const { expires_at_unix_nano: expires, fact: form } = json as Partial<Record<string, unknown>>;
    const fact = parseFact(form);
    // If the clock was set back, entries must not live longer.
    const leftMs = Math.min(keptMs, msOfUnixNano(expires) - this.#clock.nowMs());
    this.memory.set(text.slice(kind.length), fact, bytesOfProfile(fact), leftMs);
  }
}

/** Returns the owner of a key. Keys are JSON arrays that start with the owner of the data, which contains no quotes. */
function ownerOf(key: string): string {
  return key.slice(2, key.indexOf('"', 2));
}
