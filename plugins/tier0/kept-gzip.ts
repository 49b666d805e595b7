import type { GzipForm } from '../../core/wire/answer/types.js';

/**
 * The gzip form of a body, made when the first client wants it. Clients that want it meanwhile wait for the same bytes. It stays as long as
 * the body does, or is made again each time when there is no room for it.
 */
export class KeptGzip implements GzipForm {
  readonly #body: Buffer;
  readonly #hasRoom: (bytes: number) => boolean;
  #made: Promise<Buffer> | undefined;
  #kept: Buffer | undefined;

  constructor(body: Buffer, hasRoom: (bytes: number) => boolean) {
    this.#body = body;
    this.#hasRoom = hasRoom;
  }

  get kept(): Buffer | undefined {
    return this.#kept;
  }

  of(body: Buffer, compress: (body: Buffer) => Promise<Buffer>): Promise<Buffer> {
    // A stage in between may have replaced the body of the answer.
    if (body !== this.#body) return compress(body);
    this.#made ??= this.#make(compress);
    return this.#made;
  }

  async #make(compress: (body: Buffer) => Promise<Buffer>): Promise<Buffer> {
    let isKept = false;
    try {
      const gzipped = alone(await compress(this.#body));
      isKept = this.#hasRoom(gzipped.byteLength);
      if (isKept) this.#kept = gzipped;
      return gzipped;
    } finally {
      if (!isKept) this.#made = undefined;
    }
  }
}

/** Node.js allocates small buffers from a larger one, which stays in memory as long as any slice of it. */
export function alone(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength === bytes.byteLength) return bytes;
  const copy = Buffer.allocUnsafeSlow(bytes.byteLength);
  bytes.copy(copy);
  return copy;
}
