/**
 * Packed answers as a shared store holds them. Whoever has it may have changed it, so a frame is bound to the key under which it was asked
 * for, and nothing of it is believed before its digest. What peers send each other has durations in place of times, because it does not lie
 * anywhere (plugins/peer-cache/peers/frame.ts).
 *
 *     bytes   what
 *     0-3     "RPF1": a frame, and its format version
 *     4       encoding of the body: 0 plain, 1 gzip, 2 zstd
 *     5-10    when the answer was made, in Unix milliseconds
 *     11-16   until when it is fresh, the same
 *     17-20   length of the packed answer, decoded
 *     21-52   digest over the key (its length in 4 bytes, and its UTF-8), bytes 0-20 and the body: HMAC-SHA-256 where there is a secret,
 *             else SHA-256, which finds damage but no forgery
 *     53-     the packed answer (core/wire/answer/packed.ts), encoded
 *
 * Numbers are big-endian.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import { Pacer } from '../base/pace/pacer.js';
import { atPace, type Steps } from '../base/pace/steps.js';

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

export type FrameEncoding = 'plain' | 'gzip' | 'zstd';

type Codec = (bytes: Buffer, options: object) => Promise<Buffer>;

const magic = Buffer.from('RPF1');
const digestAt = 21;
const digestBytes = 32;
/** Bytes of a frame beside its body. */
export const frameHeaderBytes = digestAt + digestBytes;
/** Less is not worth a thread. */
const leastCompressed = 1_024;
/** Digested in one step: about a millisecond. */
const stepBytes = 512 * 1024;

const gzip = promisify(zlib.gzip) as Codec;
const gunzip = promisify(zlib.gunzip) as Codec;
/** Undefined in versions of Node without it. */
const zstd = codecOf('zstdCompress');
const unzstd = codecOf('zstdDecompress');

/** The encodings that this process reads, in the order of the bytes that name them. */
const encodings: readonly FrameEncoding[] = ['plain', 'gzip', 'zstd'];

/** The best encoding that this version of Node can write. */
export const bestEncoding: FrameEncoding = zstd === undefined ? 'gzip' : 'zstd';

export interface FrameSettings {
  /** Known to all who write and read; without it everybody can write frames. */
  readonly secret?: string | undefined;
  /** The most bytes of a packed answer. */
  readonly largest: number;
  /** Defaults to `bestEncoding`. Whoever has another version of Node may not read that one. */
  readonly encoding?: FrameEncoding;
}

/** Writes and reads frames. The work is done in other threads or in short steps. */
export class Frames {
  readonly #secret: string | undefined;
  readonly #largest: number;
  readonly #encoding: FrameEncoding;

  constructor({ secret, largest, encoding = bestEncoding }: FrameSettings) {
    this.#secret = secret;
    this.#largest = largest;
    this.#encoding = encoding;
  }

  /** A frame has at most so many bytes. */
  get largestFrame(): number {
    return frameHeaderBytes + this.#largest;
  }

  /** Undefined for an answer that is too large. */
  async seal(key: string, { packed, madeMs, freshUntilMs }: Framed): Promise<Buffer | undefined> {
    if (packed.byteLength > this.#largest) return undefined;
    const [encoding, body] = await this.#encode(packed);
    const header = Buffer.alloc(digestAt);
    magic.copy(header);
    header.writeUInt8(encodings.indexOf(encoding), 4);
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
    const decode = decoderOf(encodings[header.readUInt8(4)]);
    if (decode === undefined) return 'version';
    try {
      const packed = await decode(body, {
        maxOutputLength: Math.max(1, length),
        chunkSize: chunkFor(length),
      });
      if (packed.byteLength !== length) return 'damaged';
      return { packed, madeMs: header.readUIntBE(5, 6), freshUntilMs: header.readUIntBE(11, 6) };
    } catch {
      return 'damaged';
    }
  }

  async #encode(packed: Buffer): Promise<readonly [FrameEncoding, Buffer]> {
    if (packed.byteLength < leastCompressed || this.#encoding === 'plain') return ['plain', packed];
    const chunkSize = chunkFor(packed.byteLength);
    const encoding = this.#encoding === 'zstd' && zstd !== undefined ? 'zstd' : 'gzip';
    const compress = encoding === 'zstd' && zstd !== undefined ? zstd : gzip;
    const level = encoding === 'gzip' ? { level: zlib.constants.Z_BEST_SPEED } : {};
    const body = await compress(packed, { ...level, chunkSize });
    return body.byteLength < packed.byteLength ? [encoding, body] : ['plain', packed];
  }

  #digest(key: string, header: Buffer, body: Buffer): Promise<Buffer> {
    return atPace(digestSteps(this.#secret, key, header, body), new Pacer());
  }
}

function* digestSteps(secret: string | undefined, key: string, header: Buffer, body: Buffer): Steps<Buffer> {
  const hash = secret === undefined ? createHash('sha256') : createHmac('sha256', secret);
  const keyBytes = Buffer.from(key);
  const keyLength = Buffer.alloc(4);
  keyLength.writeUInt32BE(keyBytes.byteLength);
  hash.update(keyLength).update(keyBytes).update(header);
  for (let at = 0; at < body.byteLength; at += stepBytes) {
    hash.update(body.subarray(at, at + stepBytes));
    yield;
  }
  return hash.digest();
}

function decoderOf(encoding: FrameEncoding | undefined): Codec | undefined {
  switch (encoding) {
    case 'plain':
      // What comes from a socket may be a slice of something larger.
      return (bytes) => Promise.resolve(Buffer.from(bytes));
    case 'gzip':
      return gunzip;
    case 'zstd':
      return unzstd;
    case undefined:
      return undefined;
  }
}

function codecOf(name: string): Codec | undefined {
  const codec: unknown = Reflect.get(zlib, name);
  return typeof codec === 'function' ? promisify(codec as typeof zlib.gzip) : undefined;
}

/** All at once: with the default of 16 KiB a large value would need hundreds of turns. */
function chunkFor(bytes: number): number {
  return Math.max(1_024, Math.min(bytes + 64, 4 * 1024 * 1024));
}
