/** Maximum length of an interned value; longer ones (messages, traces) are assumed to be unique. */
const MAX_LENGTH = 48;
const MAX_ENTRIES = 50_000;

/**
 * Keeps one copy of short repeated strings (levels, hosts, paths). Entries expire in two generations, so a flood of unique values uses a
 * bounded table and never evicts strings in use.
 */
export class Interner {
  #misses = 0;
  #young = new Map<string, string>();
  #old = new Map<string, string>();

  /** Number of unknown strings so far, by which the caller sees that the last call kept a new copy. */
  get misses(): number {
    return this.#misses;
  }

  /** Returns an equal string, the same object for repeated short values. */
  intern(value: string): string {
    if (value.length > MAX_LENGTH) {
      this.#misses++;
      return value;
    }
    const known = this.#young.get(value) ?? this.#old.get(value);
    if (known !== undefined) {
      if (!this.#young.has(known)) this.#remember(known);
      return known;
    }
    this.#misses++;
    this.#remember(value);
    return value;
  }

  #remember(value: string): void {
    if (this.#young.size >= MAX_ENTRIES) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(value, value);
  }
}
