import type { Clock } from '../clock.js';
import type { LabelSet } from '../label-set.js';

/** The reason why an entry was removed or not stored. */
export type DropReason = 'expired' | 'evicted' | 'refused';

/** Notified of every change, for metrics. */
export interface CacheObserver {
  resized(entries: number, bytes: number): void;
  dropped(reason: DropReason): void;
}

/** A cache: it may drop entries at any time. */
export interface Memory<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value, bytes: number, ttlMs: number): unknown;
}

export interface ByteLruOptions<Value = never> {
  readonly maxEntries: number;
  readonly maxBytes: number;
  /** Maximum size of one entry; a tenth of `maxBytes` where it is left out. */
  readonly maxEntryBytes?: number;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly observer?: CacheObserver;
  /** Called with each value that leaves the cache, for whatever reason. */
  readonly left?: (value: Value) => void;
}

interface Slot<Value> {
  readonly value: Value;
  readonly bytes: number;
  readonly expiresAtMs: number;
}

/** Bytes of an entry beside its value and the characters of its key. */
const slotBytes = 120;
/**
 * One entry may take at most this fraction (1/n) of the budget, so that one answer cannot evict all others
 * (docs/protocol/operation.md#cache-size).
 */
export const largestEntryDivisor = 10;
/** Each `set` checks this many other entries for expiry, so that expired entries are removed long before room is needed. */
const expiryChecksPerSet = 4;

/**
 * A memory cache bounded by entries and by bytes, with least-recently-used eviction and a time to live per entry. Synchronous; values are
 * returned without copying and must not be changed.
 */
export class ByteLru<Value> {
  readonly #slots = new Map<string, Slot<Value>>();
  readonly #options: ByteLruOptions<Value>;
  /** Position of the scan for expired entries. */
  #expiryScan: Iterator<[string, Slot<Value>]> | undefined;
  #bytes = 0;
  /** The entry used last, if it has not been dropped. */
  #newest: Slot<Value> | undefined;
  /** The current limit in bytes, at most `maxBytes`. */
  #limit: number;

  constructor(options: ByteLruOptions<Value>) {
    this.#options = options;
    this.#limit = options.maxBytes;
  }

  /** Limits the cache to a share of `maxBytes`; evicts the least recently used entries. */
  limitTo(share: number): void {
    this.#limit = this.#options.maxBytes * share;
    while (this.#bytes > this.#limit) this.#evictOldest();
  }

  /** Maximum size of one entry. */
  get #largest(): number {
    const { maxBytes, maxEntryBytes = maxBytes / largestEntryDivisor } = this.#options;
    return Math.min(this.#limit, maxEntryBytes);
  }

  get entries(): number {
    return this.#slots.size;
  }

  /** Bytes of all keys and values, as estimated when they were set. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Keys of all entries, the least recently used first. */
  keys(): readonly string[] {
    return [...this.#slots.keys()];
  }

  /** The value without counting this as a use. */
  peek(key: string): Value | undefined {
    const slot = this.#slots.get(key);
    return slot === undefined || slot.expiresAtMs <= this.#options.clock.monotonicMs()
      ? undefined
      : slot.value;
  }

  /** The remaining lifetime of a value in milliseconds; 0 if it is not kept. */
  leftMs(key: string): number {
    const slot = this.#slots.get(key);
    return slot === undefined ? 0 : Math.max(0, slot.expiresAtMs - this.#options.clock.monotonicMs());
  }

  get(key: string): Value | undefined {
    const slot = this.#slots.get(key);
    if (slot === undefined) return undefined;
    // Entries that never expire need no look at the clock.
    if (slot.expiresAtMs !== Infinity && slot.expiresAtMs <= this.#options.clock.monotonicMs()) {
      this.#drop(key, slot, 'expired');
      return undefined;
    }
    if (slot !== this.#newest) {
      // A Map keeps insertion order, so reinserting makes the entry the most recent.
      this.#slots.delete(key);
      this.#slots.set(key, slot);
      this.#newest = slot;
    }
    return slot.value;
  }

  /** Stores a value of about `valueBytes` bytes for `ttlMs`; false when it is too large or has already expired. */
  set(key: string, value: Value, valueBytes: number, ttlMs: number): boolean {
    this.delete(key);
    const bytes = valueBytes + key.length + slotBytes;
    if (!(ttlMs > 0)) return false;
    if (this.#options.maxEntries < 1 || bytes > this.#largest) {
      this.#tell('refused');
      return false;
    }
    this.#dropSomeExpired();
    this.#put(key, { value, bytes, expiresAtMs: this.#options.clock.monotonicMs() + ttlMs });
    return true;
  }

  /**
   * Changes the size that a stored value counts as. Returns false, and changes nothing, if it is no longer stored or would be too large.
   */
  resize(key: string, value: Value, valueBytes: number): boolean {
    const slot = this.#slots.get(key);
    const bytes = valueBytes + key.length + slotBytes;
    if (slot?.value !== value || bytes > this.#largest) return false;
    this.#takeOut(key, slot);
    this.#put(key, { ...slot, bytes });
    return true;
  }

  delete(key: string): boolean {
    const slot = this.#slots.get(key);
    if (slot === undefined) return false;
    this.#remove(key, slot);
    this.#resized();
    return true;
  }

  clear(): void {
    const { left } = this.#options;
    if (left !== undefined) for (const { value } of this.#slots.values()) left(value);
    this.#slots.clear();
    this.#expiryScan = undefined;
    this.#newest = undefined;
    this.#bytes = 0;
    this.#resized();
  }

  /** Evicts the least recently used entries to make room, then stores the entry. */
  #put(key: string, slot: Slot<Value>): void {
    const { maxEntries } = this.#options;
    while (this.#slots.size >= maxEntries || this.#bytes + slot.bytes > this.#limit) this.#evictOldest();
    this.#slots.set(key, slot);
    this.#newest = slot;
    this.#bytes += slot.bytes;
    this.#resized();
  }

  #dropSomeExpired(): void {
    const nowMs = this.#options.clock.monotonicMs();
    for (let count = 0; count < expiryChecksPerSet; count += 1) {
      this.#expiryScan ??= this.#slots.entries();
      const next = this.#expiryScan.next();
      if (next.done === true) {
        this.#expiryScan = undefined;
        return;
      }
      const [key, slot] = next.value;
      if (slot.expiresAtMs <= nowMs) this.#drop(key, slot, 'expired');
    }
  }

  #evictOldest(): void {
    for (const [key, slot] of this.#slots) {
      this.#drop(key, slot, 'evicted');
      return;
    }
  }

  #remove(key: string, slot: Slot<Value>): void {
    this.#takeOut(key, slot);
    this.#options.left?.(slot.value);
  }

  #takeOut(key: string, slot: Slot<Value>): void {
    this.#slots.delete(key);
    // Do not keep the dropped entry alive.
    if (slot === this.#newest) this.#newest = undefined;
    this.#bytes -= slot.bytes;
  }

  #drop(key: string, slot: Slot<Value>, reason: DropReason): void {
    this.#remove(key, slot);
    this.#tell(reason);
  }

  #tell(reason: DropReason): void {
    this.#options.observer?.dropped(reason);
    this.#resized();
  }

  #resized(): void {
    this.#options.observer?.resized(this.#slots.size, this.#bytes);
  }
}

/** The value of a key, which is made if there is none. */
export function ofKey<Key, Value>(
  values: { get(key: Key): Value | undefined; set(key: Key, value: Value): unknown },
  key: Key,
  make: () => Value,
): Value {
  let value = values.get(key);
  if (value === undefined) values.set(key, (value = make()));
  return value;
}

/** Values by key, each made when it is first asked for. All are forgotten when there are too many. */
export class Memo<Key, Value extends NonNullable<unknown>> {
  readonly #most: number;
  readonly #make: (key: Key) => Value;
  readonly #values = new Map<Key, Value>();

  constructor(most: number, make: (key: Key) => Value) {
    this.#most = most;
    this.#make = make;
  }

  get(key: Key): Value {
    let value = this.#values.get(key);
    if (value === undefined) {
      value = this.#make(key);
      if (this.#values.size >= this.#most) this.#values.clear();
      this.#values.set(key, value);
    }
    return value;
  }
}

// Sizes in V8's heap, on 64 bits without pointer compression. Sizes of typed arrays are exact; the others are measured, and
// test/core/base/memory compares them with a real heap.

const textHead = 16;
/** From this length on, V8 represents a substring as a pointer into its parent. */
const slicedLength = 13;
const slicedBytes = 32;
const labelBytes = 72;
const labelSetBytes = 112;
/** A Map entry, including its share of unused slots. */
export const entryBytes = 48;
export const pointBytes = 80;
const rowBytes = 400;

/** The size of the label sets that a pipeline keeps for reuse (see LabelSetPool). */
export const keptLabelsBytes = 4 * 1024 * 1024;

/** The size of a text that is not a slice of another. */
export function textBytes(text: string): number {
  return textHead + ((text.length + 7) & ~7) * (hasWideCharacters(text) ? 2 : 1);
}

function hasWideCharacters(text: string): boolean {
  if (text.length > 64) return Buffer.byteLength(text) !== text.length;
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0xff) return true;
  return false;
}

/** The size of a label set with its key. Its values are separate texts or slices of the key (see LabelSet.owned). */
export function labelsBytes(set: LabelSet): number {
  let bytes = labelSetBytes + textBytes(set.key);
  for (const [, value] of set.labels) {
    bytes += labelBytes;
    if (value !== '') bytes += value.length < slicedLength ? textHead + 16 : slicedBytes;
  }
  return bytes;
}

/** The approximate size of labels that are not shared, computed in constant time. */
export function ownLabelsBytes({ size }: LabelSet): number {
  return size * 100;
}

interface Arrays {
  readonly values: { readonly byteLength: number };
  readonly present: { readonly byteLength: number };
}

/** The size of one series over the columns of a grid. */
export function seriesRowBytes({ values, present }: Arrays): number {
  return values.byteLength + present.byteLength + rowBytes;
}

/** The same, before the arrays are allocated. */
export function seriesBytes(columns: number, bytesPerColumn = 9): number {
  return columns * bytesPerColumn + rowBytes;
}

/** The size of a log row with its labels, which are mostly shared with other rows. */
export function logRowBytes({ line }: { readonly line: string }): number {
  return 300 + textBytes(line);
}
