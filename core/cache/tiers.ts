import { Keyv } from 'cacheable';
import { ByteLru, type ByteLruOptions } from '../base/memory/byte-lru.js';
import type { Yielding } from '../base/memory/cache-room.js';

/** A cache entry. Times are those of the monotonic clock. */
export interface Entry {
  readonly packed: Buffer;
  readonly madeMs: number;
  readonly freshUntilMs: number;
}

/** The library's envelope around an entry; `expires` in Unix milliseconds. */
interface Envelope {
  readonly value: Entry;
  readonly expires?: number | null;
}

/** A tier as the library `cacheable` uses it. */
interface Tier {
  get(key: string): Envelope | undefined | Promise<Envelope | undefined>;
  set(key: string, envelope: Envelope, ttlMs?: number): unknown;
  delete(key: string): unknown;
  clear(): unknown;
}

/**
 * Makes the library use a tier. Its own store in memory counts entries and clones values; ours counts bytes and returns the value itself.
 */
export function asKeyv(tier: Tier): Keyv {
  const store = {
    opts: {},
    on: () => undefined,
    get: (key: string) => tier.get(key),
    set: (key: string, envelope: Envelope, ttlMs?: number) => tier.set(key, envelope, ttlMs),
    delete: async (key: string) => {
      await tier.delete(key);
      return true;
    },
    clear: () => tier.clear(),
  };
  const keyv = new Keyv({ useKeyPrefix: false, store });
  // Otherwise the library would convert every answer to JSON text and back.
  keyv.serialize = undefined;
  keyv.deserialize = undefined;
  return keyv;
}

/** An entry in memory. It is a single small object, since many answers are smaller than the overhead of an entry. */
interface Stored {
  readonly expires: number | null | undefined;
  readonly madeMs: number;
  readonly freshUntilMs: number;
  readonly packed: KeptBytes;
}

/** Bytes of an entry in addition to its answer, its key and the overhead that ByteLru counts (test/core/base/memory/kept-answers). */
const storedBytes = 240;

/** The memory tier. Its bytes are packed in slabs, so that memory of evicted entries is returned to the system. */
export class PackedMemory implements Tier, Yielding {
  readonly #slabs = new Slabs();
  readonly #lru: ByteLru<Stored>;

  constructor(options: Omit<ByteLruOptions<Stored>, 'left'>) {
    this.#lru = new ByteLru<Stored>({ ...options, left: ({ packed }) => packed.drop() });
  }

  /** The times and the size of an entry, without counting this as a use. */
  peek(key: string): { readonly freshUntilMs: number; readonly bytes: number } | undefined {
    const stored = this.#lru.peek(key);
    return stored && { freshUntilMs: stored.freshUntilMs, bytes: stored.packed.byteLength };
  }

  get(key: string): Envelope | undefined {
    const stored = this.#lru.get(key);
    if (stored === undefined) return undefined;
    const { expires, madeMs, freshUntilMs, packed } = stored;
    const value = { madeMs, freshUntilMs, packed: packed.read() };
    return expires === undefined ? { value } : { value, expires };
  }

  set(key: string, { value, expires }: Envelope, ttlMs = 0): boolean {
    const { packed, madeMs, freshUntilMs } = value;
    const stored = { expires, madeMs, freshUntilMs, packed: this.#slabs.keep(packed) };
    const isKept = this.#lru.set(key, stored, packed.byteLength + storedBytes, ttlMs);
    if (!isKept) stored.packed.drop();
    return isKept;
  }

  delete(key: string): boolean {
    return this.#lru.delete(key);
  }

  clear(): void {
    this.#slabs.clear();
    this.#lru.clear();
  }

  limitTo(share: number): void {
    this.#lru.limitTo(share);
  }

  get entries(): number {
    return this.#lru.entries;
  }

  get bytes(): number {
    return this.#lru.bytes;
  }
}

/** Bytes in a slab, until they are dropped. */
export interface KeptBytes {
  readonly byteLength: number;
  /** Returns a copy. */
  read(): Buffer;
  drop(): void;
}

/** Small pieces share blocks of this size; larger ones get a block of their own. */
const blockBytes = 1024 * 1024;
const ownFrom = blockBytes / 4;
/** The pieces of a block that is less full than this move to another block. */
const compactBelow = 0.5;

/**
 * Packs many pieces of memory with different lifetimes into a few large blocks, which are returned to the system as a whole. The allocator
 * would leave the pieces in place and keep the gaps between them: dropping nine buffers of ten frees nothing. All blocks together take at
 * most about twice the size of the pieces.
 */
export class Slabs {
  #open = new Block(0);
  #blocks = 0;
  #epoch = 0;

  /** Total size of the blocks. */
  get bytes(): number {
    return this.#blocks;
  }

  keep(bytes: Uint8Array): KeptBytes {
    const piece = new Piece(this, this.#epoch, bytes.byteLength);
    this.#place(piece, bytes);
    return piece;
  }

  /** Frees the room of a piece, unless `clear` has dropped it. */
  left(piece: Piece): void {
    if (piece.epoch !== this.#epoch) return;
    const { block } = piece;
    block.remove(piece);
    this.#clean(block);
  }

  /** Drops all pieces at once. Those still referenced can still be read. */
  clear(): void {
    this.#epoch += 1;
    this.#blocks = 0;
    this.#open = new Block(0);
  }

  #place(piece: Piece, bytes: Uint8Array): void {
    if (bytes.byteLength >= ownFrom) {
      this.#blocks += bytes.byteLength;
      new Block(bytes.byteLength).add(piece, bytes);
      return;
    }
    if (this.#open.room < bytes.byteLength) {
      const full = this.#open;
      this.#open = new Block(blockBytes);
      this.#blocks += blockBytes;
      this.#clean(full);
    }
    this.#open.add(piece, bytes);
  }

  #clean(block: Block): void {
    if (block === this.#open || block.size === 0 || block.live >= block.size * compactBelow) return;
    this.#blocks -= block.size;
    for (const piece of block.pieces) this.#place(piece, piece.bytes());
  }
}

/** The memory of a resizable buffer is mapped separately, outside of the allocator's heap. */
const ResizableBuffer = ArrayBuffer as new (
  byteLength: number,
  options: { readonly maxByteLength: number },
) => ArrayBuffer;

/** There is one for each answer, so it is kept small: methods rather than closures. */
class Piece implements KeptBytes {
  readonly #slabs: Slabs;
  readonly epoch: number;
  readonly byteLength: number;
  block!: Block;
  offset = 0;
  #isDropped = false;

  constructor(slabs: Slabs, epoch: number, byteLength: number) {
    this.#slabs = slabs;
    this.epoch = epoch;
    this.byteLength = byteLength;
  }

  /** The bytes at their current position. */
  bytes(): Buffer {
    return this.block.memory.subarray(this.offset, this.offset + this.byteLength);
  }

  read(): Buffer {
    const copy = Buffer.allocUnsafeSlow(this.byteLength);
    this.bytes().copy(copy);
    return copy;
  }

  drop(): void {
    if (this.#isDropped) return;
    this.#isDropped = true;
    this.#slabs.left(this);
  }
}

class Block {
  readonly size: number;
  readonly memory: Buffer;
  readonly pieces = new Set<Piece>();
  #used = 0;
  live = 0;

  constructor(size: number) {
    this.size = size;
    this.memory = Buffer.from(new ResizableBuffer(size, { maxByteLength: size }), 0, size);
  }

  get room(): number {
    return this.size - this.#used;
  }

  add(piece: Piece, bytes: Uint8Array): void {
    this.memory.set(bytes, this.#used);
    piece.block = this;
    piece.offset = this.#used;
    this.#used += bytes.byteLength;
    this.live += bytes.byteLength;
    this.pieces.add(piece);
  }

  remove(piece: Piece): void {
    this.live -= piece.byteLength;
    this.pieces.delete(piece);
  }
}
