import { LabelSet } from '../../base/label-set.js';
import type { MemoryAccount } from '../../base/memory/account.js';
import { entryBytes, ownLabelsBytes, textBytes } from '../../base/memory/byte-lru.js';
import { entryIdentity, isSameEntry, type Identified } from '../../victoria/names/entry-identity.js';

/** The option `-repeated-rows`: rows that were pushed several times count once, or as often as they are stored. */
export type RepeatedRowsRule = 'once' | 'stored';

type TimedRow = Identified & { readonly timestampNs: bigint };

/** Detects repeated rows: rows with the same time that are the same entry. */
export class Repeats {
  /** A row, or the identities of several rows, by time in nanoseconds since the first row. */
  readonly #times = new Map<number, Identified | Set<string>>();
  #originNs: bigint | undefined;
  readonly #memory: MemoryAccount;
  #held = 0;
  #last: LabelSet | undefined;

  constructor(memory: MemoryAccount) {
    this.#memory = memory;
  }

  /** True if the same entry was seen before. Rows may come in any order, but must have all their columns. */
  isRepeated(row: TimedRow): boolean {
    this.#originNs ??= row.timestampNs;
    // Exact to the nanosecond within 104 days. Windows of rows are far shorter, or contain almost nothing.
    const at = Number(row.timestampNs - this.#originNs);
    const known = this.#times.get(at);
    if (known === undefined) {
      const { stream, line, structuredMetadata } = row;
      // Consecutive rows mostly have the same metadata, and share it.
      this.#hold(line, structuredMetadata === this.#last ? LabelSet.empty : structuredMetadata);
      this.#last = structuredMetadata;
      this.#times.set(at, { stream, line, structuredMetadata });
      return false;
    }
    if (known instanceof Set) return this.#isIn(known, row);
    if (isSameEntry(known, row)) return true;
    const identities = new Set([entryIdentity(known)]);
    this.#times.set(at, identities);
    return this.#isIn(identities, row);
  }

  /** Forgets all rows, before a time segment that does not overlap the previous one. */
  clear(): void {
    this.#times.clear();
    this.#originNs = undefined;
    this.#last = undefined;
    this.#memory.release(this.#held, 'log lines');
    this.#held = 0;
  }

  #isIn(identities: Set<string>, row: TimedRow): boolean {
    const identity = entryIdentity(row);
    if (identities.has(identity)) return true;
    this.#hold(identity);
    identities.add(identity);
    return false;
  }

  #hold(text: string, metadata = LabelSet.empty): void {
    const bytes = entryBytes + textBytes(text) + ownLabelsBytes(metadata);
    this.#held += bytes;
    this.#memory.charge(bytes, 'log lines');
  }
}
