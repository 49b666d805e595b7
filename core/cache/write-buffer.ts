/** A value to be written. Times in Unix milliseconds. */
export interface Waiting {
  readonly key: string;
  readonly packed: Buffer;
  readonly writtenMs: number;
  readonly expiresMs: number;
}

/** Maximum size of the buffer, unless a single value is larger. */
const maxBytes = 32 * 1024 * 1024;
/** From this size on, a flush is due. */
const dueBytes = 8 * 1024 * 1024;
const batchBytes = 2 * 1024 * 1024;
const batchEntries = 64;

/** Values to be written, by key; they can be read meanwhile. The buffer is bounded: values that do not fit are refused. */
export class WriteBuffer {
  readonly #maxBytes: number;
  readonly #waiting = new Map<string, Waiting>();
  /** The batch that is being written. */
  readonly #leaving = new Map<string, Waiting>();
  /** Size of all values, including the batch that is being written. */
  #bytes = 0;

  constructor(largest: number) {
    this.#maxBytes = Math.max(maxBytes, largest);
  }

  /** Number of buffered values, excluding the batch that is being written. */
  get size(): number {
    return this.#waiting.size;
  }

  get(key: string): Waiting | undefined {
    return this.#waiting.get(key) ?? this.#leaving.get(key);
  }

  /** Adds a value; false when the buffer is full. */
  add(entry: Waiting): boolean {
    this.#remove(this.#waiting, entry.key);
    const bytes = bytesOf(entry);
    if (this.#bytes + bytes > this.#maxBytes) return false;
    this.#waiting.set(entry.key, entry);
    this.#bytes += bytes;
    return true;
  }

  isDue(entries: number): boolean {
    return this.#waiting.size >= entries || this.#bytes >= dueBytes;
  }

  /** Takes the next batch, in order of arrival, for one transaction. Call `done` when it has been written or given up. */
  take(): readonly Waiting[] {
    let bytes = 0;
    for (const [key, entry] of this.#waiting) {
      bytes += bytesOf(entry);
      if (this.#leaving.size > 0 && bytes > batchBytes) break;
      this.#leaving.set(key, entry);
      this.#waiting.delete(key);
      if (this.#leaving.size >= batchEntries) break;
    }
    return [...this.#leaving.values()];
  }

  done(): void {
    for (const key of [...this.#leaving.keys()]) this.#remove(this.#leaving, key);
  }

  delete(key: string): void {
    this.#remove(this.#waiting, key);
    this.#remove(this.#leaving, key);
  }

  deleteBeginning(prefix: string): void {
    for (const key of [...this.#waiting.keys(), ...this.#leaving.keys()])
      if (key.startsWith(prefix)) this.delete(key);
  }

  clear(): void {
    this.#waiting.clear();
    this.#leaving.clear();
    this.#bytes = 0;
  }

  #remove(from: Map<string, Waiting>, key: string): void {
    const entry = from.get(key);
    if (entry === undefined) return;
    from.delete(key);
    this.#bytes -= bytesOf(entry);
  }
}

function bytesOf({ key, packed }: Waiting): number {
  return packed.byteLength + 2 * key.length;
}
