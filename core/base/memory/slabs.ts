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
