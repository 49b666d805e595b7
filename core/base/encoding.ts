/** Compression of bodies sent between processes of this program. No other module knows the codecs. */
import type { Transform } from 'node:stream';
import { promisify } from 'node:util';
import * as zlib from 'node:zlib';

export type Encoding = 'zstd' | 'gzip';
type Recode = (bytes: Buffer, options: object) => Promise<Buffer>;

interface Codec {
  readonly compress: (bytes: Buffer) => Promise<Buffer>;
  readonly decompress: (bytes: Buffer, largest: number) => Promise<Buffer>;
}

/** Bodies below this size are not compressed. */
export const leastCompressed = 1024;

const gzip: Codec = {
  compress: (bytes) => promisify(zlib.gzip)(bytes, { level: zlib.constants.Z_BEST_SPEED, ...chunks(bytes) }),
  decompress: (bytes, largest) =>
    promisify(zlib.gunzip)(bytes, { maxOutputLength: largest, ...chunks(bytes) }),
};

/** Larger chunks than zlib's default of 16 KiB, so that a body needs fewer turns of the event loop. */
function chunks(bytes: Buffer): { readonly chunkSize: number } {
  return { chunkSize: Math.max(16_384, Math.min(4 * bytes.byteLength, 1024 * 1024)) };
}

/** The zstd functions that Node has from 22.15 on. */
interface Zstd {
  readonly zstdCompress?: unknown;
  readonly zstdDecompress?: unknown;
  readonly createZstdDecompress?: unknown;
}

/** The encodings that this process supports, the preferred one first. */
export class Encodings {
  readonly #codecs: ReadonlyMap<string, Codec>;

  constructor(library: object = zlib) {
    const zstd = zstdOf(library);
    this.#codecs = new Map<string, Codec>([
      ...(zstd === undefined ? [] : [['zstd', zstd] as const]),
      ['gzip', gzip],
    ]);
  }

  /** The value for `Accept-Encoding`. */
  get names(): string {
    return [...this.#codecs.keys()].join(', ');
  }

  get preferred(): string {
    return this.#codecs.has('zstd') ? 'zstd' : 'gzip';
  }

  has(encoding: string): boolean {
    return this.#codecs.has(encoding);
  }

  /** The most preferred encoding that the other side accepts, given its `Accept-Encoding`; undefined for none. */
  bestOf(accepted: string): string | undefined {
    const wanted = new Set(
      accepted.split(',').flatMap((part) => {
        const [name = '', ...parameters] = part
          .trim()
          .toLowerCase()
          .split(/\s*;\s*/);
        return parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter)) ? [] : [name];
      }),
    );
    return [...this.#codecs.keys()].find((name) => wanted.has(name) || wanted.has('*'));
  }

  /** @throws Error for an unknown encoding */
  compress(encoding: string, bytes: Buffer): Promise<Buffer> {
    return this.#codec(encoding).compress(bytes);
  }

  /**
   * @param encoding as in `Content-Encoding`; undefined or `identity` for none
   * @throws Error for bytes that are not encoded this way, or a decoded size above `largest`
   */
  async decompress(encoding: string | undefined, bytes: Buffer, largest: number): Promise<Buffer> {
    if (encoding === undefined || encoding === '' || encoding === 'identity') return bytes;
    return this.#codec(encoding).decompress(bytes, largest);
  }

  #codec(encoding: string): Codec {
    const codec = this.#codecs.get(encoding.trim().toLowerCase());
    if (codec === undefined) throw new Error('unknown content encoding');
    return codec;
  }
}

/** Streaming decompressors by `Content-Encoding`. */
export function streamUnpackers(library: object = zlib): ReadonlyMap<string, () => Transform> {
  const { createZstdDecompress }: Zstd = library;
  const all = new Map<string, () => Transform>([['gzip', () => zlib.createGunzip()]]);
  // The types of Node 20 lack it.
  if (typeof createZstdDecompress === 'function') all.set('zstd', createZstdDecompress as () => Transform);
  return all;
}

function zstdOf({ zstdCompress, zstdDecompress }: Zstd): Codec | undefined {
  if (typeof zstdCompress !== 'function' || typeof zstdDecompress !== 'function') return undefined;
  // The types of Node 20 lack them.
  const [compress, decompress] = [promisify(zstdCompress) as Recode, promisify(zstdDecompress) as Recode];
  return {
    compress: (bytes) => compress(bytes, {}),
    decompress: (bytes, largest) => decompress(bytes, { maxOutputLength: largest }),
  };
}
