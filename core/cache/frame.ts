/**
 * Packed answers as a store holds them that replicas share. Whoever can write there may have changed them, so a frame is bound to the key
 * under which it was asked for, and nothing of it is believed before its digest. What peers send each other has durations in place of times,
 * because it does not lie anywhere (plugins/peer-cache/peers/frame.ts).
 *
 *     bytes   what
 *     0-3     "RPF1": a frame, and its format version
 *     4       encoding of the body: 0 plain, 1 gzip, which every version of Node reads
 *     5-10    when the answer was made, in Unix milliseconds
 *     11-16   until when it is fresh, the same
 *     17-20   length of the packed answer, decoded
 *     21-52   digest over the key (its length in 4 bytes, and its UTF-8), bytes 0-20 and the body: HMAC-SHA-256 where there is a secret,
 *             else SHA-256, which finds damage but no forgery
 *     53-     the packed answer (core/wire/answer/packed.ts), encoded
 *
 * Numbers are big-endian.
 */
import { timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { constants, gunzip, gzip } from 'node:zlib';
import { keyedDigest } from './keyed-digest.js';

/** Times in Unix milliseconds. */
export interface Framed {
  readonly packed: Buffer;
  readonly madeMs: number;
  readonly freshUntilMs: number;
}

/**
 * Why bytes are no frame of this key. `version`: of another version, or encoded as this process cannot read. `large`: more than the
 * largest answer. `damaged`: not what was written under this key, or with another secret.
 */
export type FrameDefect = 'version' | 'large' | 'damaged';

const magic = Buffer.from('RPF1');
const digestAt = 21;
const digestBytes = 32;
/** Bytes of a frame beside its body. */
export const frameHeaderBytes = digestAt + digestBytes;
/** Less is not worth a thread. */
const leastCompressed = 1_024;

const compress = promisify(gzip);
const decompress = promisify(gunzip);

export interface FrameSettings {
  /** Known to all who write and read; without it everybody can write frames. */
  readonly secret?: string | undefined;
  /** The most bytes of a packed answer. */
  readonly largest: number;
}

/** Writes and reads frames. The work is done in other threads or in short steps. */
export class Frames {
  readonly #secret: string | undefined;
  readonly #largest: number;

  constructor({ secret, largest }: FrameSettings) {
    this.#secret = secret;
    this.#largest = largest;
  }

  /** A frame has at most so many bytes. */
  get largestFrame(): number {
    return frameHeaderBytes + this.#largest;
  }

  /** Undefined for an answer that is too large. */
  async seal(key: string, { packed, madeMs, freshUntilMs }: Framed): Promise<Buffer | undefined> {
    if (packed.byteLength > this.#largest) return undefined;
    const body = await encode(packed);
    const header = Buffer.alloc(digestAt);
    magic.copy(header);
    header.writeUInt8(body === packed ? 0 : 1, 4);
    header.writeUIntBE(Math.floor(madeMs), 5, 6);
    header.writeUIntBE(Math.floor(freshUntilMs), 11, 6);
    header.writeUInt32BE(packed.byteLength, 17);
    return Buffer.concat([header, await this.#digest(key, header, body), body]);
  }

  /** What was sealed under this key. */
  async open(key: string, frame: Buffer): Promise<Framed | FrameDefect> {
    if (frame.byteLength < frameHeaderBytes) return 'damaged';
    if (!frame.subarray(0, magic.byteLength).equals(magic)) return 'version';
    if (frame.byteLength > this.largestFrame) return 'large';
    const header = frame.subarray(0, digestAt);
    const body = frame.subarray(frameHeaderBytes);
    const digest = await this.#digest(key, header, body);
    if (!timingSafeEqual(digest, frame.subarray(digestAt, frameHeaderBytes))) return 'damaged';
    const length = header.readUInt32BE(17);
    if (length > this.#largest) return 'large';
    const encoding = header.readUInt8(4);
    if (encoding > 1) return 'version';
    const packed = encoding === 0 ? Buffer.from(body) : await decode(body, length);
    if (packed?.byteLength !== length) return 'damaged';
    return { packed, madeMs: header.readUIntBE(5, 6), freshUntilMs: header.readUIntBE(11, 6) };
  }

  #digest(key: string, header: Buffer, body: Buffer): Promise<Buffer> {
    return keyedDigest(this.#secret, key, header, body);
  }
}

/** The same bytes where compression is of no use. */
async function encode(packed: Buffer): Promise<Buffer> {
  if (packed.byteLength < leastCompressed) return packed;
  const chunkSize = chunkFor(packed.byteLength);
  const body = await compress(packed, { level: constants.Z_BEST_SPEED, chunkSize });
  return body.byteLength < packed.byteLength ? body : packed;
}

async function decode(body: Buffer, length: number): Promise<Buffer | undefined> {
  try {
    return await decompress(body, { maxOutputLength: Math.max(1, length), chunkSize: chunkFor(length) });
  } catch {
    return undefined;
  }
}

/** All at once: with the default of 16 KiB a large value would need hundreds of turns. */
function chunkFor(bytes: number): number {
  return Math.max(1_024, Math.min(bytes + 64, 4 * 1024 * 1024));
}
