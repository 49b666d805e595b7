/** Bytes that are kept, until they are dropped. */
export interface KeptBytes {
  readonly byteLength: number;
  /** A copy of them. */
  read(): Buffer;
  drop(): void;
}

/** Small pieces share blocks of this size; larger ones have one of their own. */
const blockBytes = 1024 * 1024;
const ownFrom = blockBytes / 4;
/** What is left in a block that is emptier than this moves to another one. */
const fullest = 0.5;

/**
 * Keeps many pieces of memory that come and go in any order in few large blocks, which are given back to the system as a whole. The
 * allocator would leave them where they are and keep what lies between them: dropping nine buffers of ten gives nothing back. All blocks
 * together take at most about twice what is kept.
 */
export class Slabs {
  #open = new Block(0);
  #blocks = 0;
  #epoch = 0;

  /** Bytes of all blocks. */
  get bytes(): number {
    return this.#blocks;
  }

  keep(bytes: Uint8Array): KeptBytes {
    const piece = new Piece(this, this.#epoch, bytes.byteLength);
    this.#place(piece, bytes);
    return piece;
  }

  /** Takes back the room of a piece, unless it was forgotten with all others. */
  left(piece: Piece): void {
    if (piece.epoch !== this.#epoch) return;
    const { block } = piece;
    block.remove(piece);
    this.#clean(block);
  }

  /** Forgets all pieces at once, before they are dropped. They can still be read. */
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
    if (block === this.#open || block.size === 0 || block.live >= block.size * fullest) return;
    this.#blocks -= block.size;
    for (const piece of block.pieces) this.#place(piece, piece.bytes());
  }
}

/** A buffer that could be resized has pages of its own, outside of the allocator's heap. */
const ResizableBuffer = ArrayBuffer as new (
  byteLength: number,
  options: { readonly maxByteLength: number },
) => ArrayBuffer;

/** There are as many as answers, so they are small: no functions of their own. */
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

  /** Where they lie now. */
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
