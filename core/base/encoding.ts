/** How bodies that processes of this program send are compressed: the only place that knows of it. */
import type { Transform } from 'node:stream';
import { promisify } from 'node:util';
import * as zlib from 'node:zlib';

export type Encoding = 'zstd' | 'gzip';
type Recode = (bytes: Buffer, options: object) => Promise<Buffer>;

interface Codec {
  readonly compress: (bytes: Buffer) => Promise<Buffer>;
  readonly decompress: (bytes: Buffer, largest: number) => Promise<Buffer>;
}

/** Smaller bodies are sent as they are. */
export const leastCompressed = 1024;

const gzip: Codec = {
  compress: (bytes) => promisify(zlib.gzip)(bytes, { level: zlib.constants.Z_BEST_SPEED, ...chunks(bytes) }),
  decompress: (bytes, largest) =>
    promisify(zlib.gunzip)(bytes, { maxOutputLength: largest, ...chunks(bytes) }),
};

/** Fewer and larger turns than with the default of 16 KiB. */
function chunks(bytes: Buffer): { readonly chunkSize: number } {
  return { chunkSize: Math.max(16_384, Math.min(4 * bytes.byteLength, 1024 * 1024)) };
}

/** What Node has from 22.15 on. */
interface Zstd {
  readonly zstdCompress?: unknown;
  readonly zstdDecompress?: unknown;
  readonly createZstdDecompress?: unknown;
}

/** The encodings of this process, the preferred one first. */
export class Encodings {
  readonly #codecs: ReadonlyMap<string, Codec>;

  constructor(library: object = zlib) {
    const zstd = zstdOf(library);
    this.#codecs = new Map<string, Codec>([
      ...(zstd === undefined ? [] : [['zstd', zstd] as const]),
      ['gzip', gzip],
    ]);
  }

  /** For `Accept-Encoding`. */
  get names(): string {
    return [...this.#codecs.keys()].join(', ');
  }

  get preferred(): string {
    return this.#codecs.has('zstd') ? 'zstd' : 'gzip';
  }

  has(encoding: string): boolean {
    return this.#codecs.has(encoding);
  }

  /** The best of this process among those that another one takes, from its `Accept-Encoding` or the like; undefined for none. */
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

  /** @throws Error for an encoding that this process does not know */
  compress(encoding: string, bytes: Buffer): Promise<Buffer> {
    return this.#codec(encoding).compress(bytes);
  }

  /**
   * @param encoding as in `Content-Encoding`; undefined or `identity` for none
   * @throws Error for what is not so encoded, or larger when decoded
   */
  async decompress(encoding: string | undefined, bytes: Buffer, largest: number): Promise<Buffer> {
    if (encoding === undefined || encoding === '' || encoding === 'identity') return bytes;
    return this.#codec(encoding).decompress(bytes, largest);
  }

  #codec(encoding: string): Codec {
    const codec = this.#codecs.get(encoding.trim().toLowerCase());
    if (codec === undefined) throw new Error('the encoding is not known');
    return codec;
  }
}

/** How bodies are read that are unpacked as they come, by `Content-Encoding`. */
export function streamUnpackers(library: object = zlib): ReadonlyMap<string, () => Transform> {
  const { createZstdDecompress }: Zstd = library;
  const all = new Map<string, () => Transform>([['gzip', () => zlib.createGunzip()]]);
  // Types of Node 20 do not have it.
  if (typeof createZstdDecompress === 'function') all.set('zstd', createZstdDecompress as () => Transform);
  return all;
}

function zstdOf({ zstdCompress, zstdDecompress }: Zstd): Codec | undefined {
  if (typeof zstdCompress !== 'function' || typeof zstdDecompress !== 'function') return undefined;
  // Types of Node 20 do not have them.
  const [compress, decompress] = [promisify(zstdCompress) as Recode, promisify(zstdDecompress) as Recode];
  return {
    compress: (bytes) => compress(bytes, {}),
    decompress: (bytes, largest) => decompress(bytes, { maxOutputLength: largest }),
  };
}
