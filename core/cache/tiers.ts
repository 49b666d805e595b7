import { Cacheable, Keyv } from 'cacheable';

/** A cache of several tiers: memory first, then slower ones. Times in milliseconds. */
export interface TieredCache<Value> {
  get(key: string): Promise<Value | undefined>;
  /** The value in memory. */
  getNear(key: string): Value | undefined;
  set(key: string, value: Value, ttlMs: number): Promise<void>;
  /** Stores in memory only; false if the value is refused. */
  setNear(key: string, value: Value, ttlMs: number): boolean;
  delete(key: string): Promise<void>;
  clear(): Promise<void>;
  /** Adds a tier behind memory. Values found there are copied to memory for the rest of their TTL. */
  putBehind(tier: SlowTier<Value>): void;
}

/** A tier behind memory. */
interface SlowTier<Value> {
  get(key: string): Promise<{ readonly value: Value; readonly ttlMs: number } | undefined>;
  set(key: string, value: Value, ttlMs: number): void;
  delete(key: string): Promise<void>;
  clear(): Promise<void>;
}

interface TierObserver<Value> {
  failed(error: unknown): void;
  /** Called with the result of each lookup in the memory tier. */
  looked(value: Value | undefined): void;
}

/** The entry of the tiers: the library's envelope around a value. */
export interface Envelope<Value> {
  readonly value: Value;
  readonly expires?: number | null;
}

/** The tier in front; synchronous and bounded in bytes. */
export interface MemoryTier<Value> {
  get(key: string): Envelope<Value> | undefined;
  set(key: string, envelope: Envelope<Value>, bytes: number, ttlMs: number): boolean;
  delete(key: string): boolean;
  clear(): void;
}

/**
 * Puts the byte-bounded memory store in front of slower tiers with `cacheable`, which reads through and fills the front. The library's own
 * memory store counts entries and clones values; this one counts bytes and returns the value itself. A failing tier counts as a miss.
 */
export function createTieredCache<Value extends object>(
  memory: MemoryTier<Value>,
  bytesOf: (value: Value) => number,
  observer: TierObserver<Value>,
): TieredCache<Value> {
  const cache = new Cacheable({ primary: memoryTier(memory, bytesOf), stats: false });
  cache.on('error', (error: unknown) => observer.failed(error));
  cache.on('cache:hit', ({ store, value }: { readonly store: string; readonly value: Value }) => {
    if (store === 'primary') observer.looked(value);
  });
  cache.on('cache:miss', ({ store }: { readonly store: string }) => {
    if (store === 'primary') observer.looked(undefined);
  });
  return {
    get: (key) => cache.get<Value>(key),
    getNear: (key) => {
      const value = memory.get(key)?.value;
      observer.looked(value);
      return value;
    },
    setNear: (key, value, ttlMs) =>
      memory.set(key, { value, expires: Date.now() + ttlMs }, bytesOf(value), ttlMs),
    set: async (key, value, ttl) => {
      await cache.set(key, value, ttl);
    },
    delete: async (key) => {
      await cache.delete(key);
    },
    clear: () => cache.clear(),
    putBehind: (tier) => cache.setSecondary(slowTier(tier)),
  };
}

function memoryTier<Value extends object>(
  memory: MemoryTier<Value>,
  bytesOf: (value: Value) => number,
): Keyv {
  return asKeyv<Value>({
    get: (key) => memory.get(key),
    set: (key, envelope, ttlMs) => memory.set(key, envelope, bytesOf(envelope.value), ttlMs ?? 0),
    delete: (key) => memory.delete(key),
    clear: () => memory.clear(),
  });
}

function slowTier<Value extends object>(tier: SlowTier<Value>): Keyv {
  return asKeyv<Value>({
    get: async (key) => {
      const found = await tier.get(key);
      return found && { value: found.value, expires: Date.now() + found.ttlMs };
    },
    set: (key, { value }, ttlMs) => tier.set(key, value, ttlMs ?? 0),
    delete: async (key) => {
      await tier.delete(key);
      return true;
    },
    clear: () => tier.clear(),
  });
}

/** The interface that the library requires of a store. */
interface Store<Value> {
  get(key: string): Envelope<Value> | undefined | Promise<Envelope<Value> | undefined>;
  set(key: string, envelope: Envelope<Value>, ttlMs?: number): unknown;
  delete(key: string): boolean | Promise<boolean>;
  clear(): void | Promise<void>;
}

function asKeyv<Value>(store: Store<Value>): Keyv {
  const tier = new Keyv({ useKeyPrefix: false, store: { opts: {}, on: () => undefined, ...store } });
  // Otherwise the library would convert every answer to JSON text and back.
  tier.serialize = undefined;
  tier.deserialize = undefined;
  return tier;
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
