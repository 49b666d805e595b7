/**
 * Frame of values that leave the process, to peers or into a store that replicas share: magic, version of the frame, age and remaining TTL
 * in milliseconds, digest, value. Between peers, whose clocks differ, both times are durations. In a store, where a value stays for a
 * while, they are the Unix times of creation and expiry. The digest covers the key, the header and the value, so it detects a value that
 * was truncated, changed, forged or stored under another key. With a secret it is HMAC-SHA-256; without one it is SHA-256, which detects
 * damage but not forgery.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { Encodings } from '../base/encoding.js';
import { atPace, Pacer, type Steps } from '../base/pace/steps.js';
import type { AnswerHit } from './answer-tier.js';

/** The reason why bytes are not the value of a key. */
export type FrameDefect = 'cut' | 'foreign' | 'version' | 'forged';

const magic = Buffer.from('RPPC');
const version = 1;
const timesAt = magic.byteLength + 1;
const headBytes = timesAt + 16;
const digestBytes = 32;
export const frameBytes = headBytes + digestBytes;
/** Bytes digested in one step: about a millisecond. */
const stepBytes = 512 * 1024;
const encodings = new Encodings();

export async function framed(
  key: string,
  { packed, leftMs, ageMs }: AnswerHit,
  secret: string | undefined,
): Promise<Buffer> {
  const head = Buffer.alloc(headBytes);
  magic.copy(head);
  head.writeUInt8(version, magic.byteLength);
  head.writeDoubleBE(ageMs, timesAt);
  head.writeDoubleBE(leftMs, timesAt + 8);
  return Buffer.concat([head, await digestOf(key, head, packed, secret), packed]);
}

export async function unframed(
  key: string,
  bytes: Buffer,
  secret: string | undefined,
): Promise<AnswerHit | FrameDefect> {
  if (!bytes.subarray(0, magic.byteLength).equals(magic)) return 'foreign';
  if (bytes.byteLength <= frameBytes) return 'cut';
  if (bytes.readUInt8(magic.byteLength) !== version) return 'version';
  const head = bytes.subarray(0, headBytes);
  const packed = bytes.subarray(frameBytes);
  const digest = await digestOf(key, head, packed, secret);
  if (!timingSafeEqual(digest, bytes.subarray(headBytes, frameBytes))) return 'forged';
  const [ageMs, leftMs] = [head.readDoubleBE(timesAt), head.readDoubleBE(timesAt + 8)];
  return ageMs >= 0 && Number.isFinite(ageMs) && Number.isFinite(leftMs)
    ? { packed, ageMs, leftMs }
    : 'forged';
}

/** Encodes a value for a store, compressed. */
export async function toStored(
  key: string,
  packed: Buffer,
  ttlMs: number,
  { nowMs, secret }: StoredFrame,
): Promise<Buffer> {
  const frame = await framed(key, { packed, ageMs: nowMs, leftMs: nowMs + ttlMs }, secret);
  return encodings.compress('gzip', frame);
}

/** The value that was stored under this key, with its age and remaining TTL; undefined for other bytes. */
export async function fromStored(
  key: string,
  bytes: Buffer,
  largest: number,
  { nowMs, secret }: StoredFrame,
): Promise<AnswerHit | undefined> {
  const frame = await encodings.decompress('gzip', bytes, largest + frameBytes).catch(() => undefined);
  const found = frame && (await unframed(key, frame, secret));
  if (found === undefined || typeof found === 'string') return undefined;
  const { packed, ageMs: madeMs, leftMs: untilMs } = found;
  // Clocks of replicas differ a little; setting a clock back must not extend the TTL of a value.
  return { packed, ageMs: Math.max(0, nowMs - madeMs), leftMs: Math.min(untilMs - nowMs, untilMs - madeMs) };
}

interface StoredFrame {
  readonly nowMs: number;
  readonly secret: string | undefined;
}

function digestOf(key: string, head: Buffer, body: Buffer, secret: string | undefined): Promise<Buffer> {
  return atPace(digestSteps(key, head, body, secret), new Pacer());
}

function* digestSteps(key: string, head: Buffer, body: Buffer, secret: string | undefined): Steps<Buffer> {
  const hash = secret === undefined ? createHash('sha256') : createHmac('sha256', secret);
  const keyLength = Buffer.alloc(4);
  keyLength.writeUInt32BE(Buffer.byteLength(key));
  hash.update(keyLength).update(key).update(head);
  for (let at = 0; at < body.byteLength; at += stepBytes) {
    hash.update(body.subarray(at, at + stepBytes));
    yield;
  }
  return hash.digest();
}
