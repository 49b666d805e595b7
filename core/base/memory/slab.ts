/**
 * Arrays of zeros, cut from blocks. A buffer for each would be a small piece of the C library's heap, which returns memory to the system only
 * from its end; blocks are returned as they are collected, and there are fewer of them. Do not transfer the buffers: they are shared.
 */

/** Large enough that the C library maps a block by itself (docs/sizing.md#allocator). */
const blockBytes = 256 * 1024;
/** Larger arrays have buffers of their own. The end of a block that is left unused is smaller than this. */
const mostBytes = 32 * 1024;

let block = new ArrayBuffer(blockBytes);
let used = 0;

/** Cuts a piece from the block; a large one has a block of its own. */
function cut(bytes: number): { readonly buffer: ArrayBuffer; readonly at: number } {
  if (bytes > mostBytes) return { buffer: new ArrayBuffer(bytes), at: 0 };
  if (used + bytes > blockBytes) {
    block = new ArrayBuffer(blockBytes);
    used = 0;
  }
  const at = used;
  // The next array of numbers has to begin at a multiple of eight bytes.
  used += Math.ceil(bytes / 8) * 8;
  return { buffer: block, at };
}

export function zeroNumbers(count: number): Float64Array<ArrayBuffer> {
  const { buffer, at } = cut(8 * count);
  return new Float64Array(buffer, at, count);
}

export function zeroBytes(count: number): Uint8Array<ArrayBuffer> {
  const { buffer, at } = cut(count);
  return new Uint8Array(buffer, at, count);
}
