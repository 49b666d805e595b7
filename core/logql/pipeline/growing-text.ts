/** Sizes in which Go's allocator hands out memory for bytes, up to where it counts in pages. */
const sizes: readonly number[] = [
  8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256, 288, 320, 352, 384, 416,
  448, 480, 512, 576, 640, 704, 768, 896, 1024, 1152, 1280, 1408, 1536, 1792, 2048, 2304, 2688, 3072, 3200,
  3456, 4096, 4864, 5120, 5376, 6144, 6528, 6784, 6912, 8192, 9472, 9728, 10240, 10880, 12288, 13568, 14336,
  16384, 18432, 19072, 20480, 21760, 24576, 27264, 28672, 32768,
];
const page = 8192;
/** Up to here Go doubles what has become too small. */
const doubled = 256;

/**
 * A text that Loki makes by appending to another one. Texts that are appended to the same one share its memory while that has room, so the
 * last one overwrites the others: `foo(b.*|c.*)` looks for `fooc` twice, and never for `foob`.
 */
export class GrowingText {
  readonly #memory: Buffer;
  readonly #length: number;

  private constructor(memory: Buffer, length: number) {
    this.#memory = memory;
    this.#length = length;
  }

  static of(text: string): GrowingText {
    return new GrowingText(Buffer.alloc(0), 0).append(text);
  }

  append(text: string): GrowingText {
    const added = Buffer.byteLength(text);
    const length = this.#length + added;
    const memory = length <= this.#memory.length ? this.#memory : this.#grown(length);
    memory.write(text, this.#length);
    return new GrowingText(memory, length);
  }

  toString(): string {
    return this.#memory.toString('utf8', 0, this.#length);
  }

  #grown(length: number): Buffer {
    const had = this.#memory.length;
    const memory = Buffer.alloc(roundedUp(had === 0 ? length : grownSize(had, length)));
    this.#memory.copy(memory, 0, 0, this.#length);
    return memory;
  }
}

function grownSize(had: number, needed: number): number {
  if (needed > 2 * had) return needed;
  if (had < doubled) return 2 * had;
  let size = had;
  while (size < needed) size += Math.floor((size + 3 * doubled) / 4);
  return size;
}

function roundedUp(size: number): number {
  return sizes.find((one) => one >= size) ?? Math.ceil(size / page) * page;
}
