/**
 * Values as they travel between replicas: magic, version of the frame, age and time left in milliseconds, HMAC-SHA256, value. Times are
 * durations, because the clocks of two machines differ. The HMAC is keyed by the token of the fleet and is over the key, what stands before it
 * and the value, so that a value that was cut, changed, made by a stranger or kept under another key is told.
 */
import { timingSafeEqual } from 'node:crypto';
import type { AnswerHit } from '../../../core/cache/answer-tier.js';
import { keyedDigest } from '../../../core/cache/keyed-digest.js';

const magic = Buffer.from('RPPC');
const version = 1;
/** Magic, version, age, time left. */
const timesAt = magic.byteLength + 1;
const headBytes = timesAt + 16;
const macBytes = 32;
export const frameBytes = headBytes + macBytes;

/** Why bytes are not the value of a key. */
export type FrameDefect = 'cut' | 'foreign' | 'version' | 'forged';

export async function framed(
  key: string,
  { packed, leftMs, ageMs }: AnswerHit,
  token: string,
): Promise<Buffer> {
  const head = Buffer.alloc(headBytes);
  magic.copy(head);
  head.writeUInt8(version, magic.byteLength);
  head.writeDoubleBE(ageMs, timesAt);
  head.writeDoubleBE(leftMs, timesAt + 8);
  return Buffer.concat([head, await keyedDigest(token, key, head, packed), packed]);
}

export async function unframed(key: string, bytes: Buffer, token: string): Promise<AnswerHit | FrameDefect> {
  if (!bytes.subarray(0, magic.byteLength).equals(magic)) return 'foreign';
  if (bytes.byteLength <= frameBytes) return 'cut';
  if (bytes.readUInt8(magic.byteLength) !== version) return 'version';
  const head = bytes.subarray(0, headBytes);
  const packed = bytes.subarray(frameBytes);
  const mac = await keyedDigest(token, key, head, packed);
  if (!timingSafeEqual(mac, bytes.subarray(headBytes, frameBytes))) return 'forged';
  const [ageMs, leftMs] = [head.readDoubleBE(timesAt), head.readDoubleBE(timesAt + 8)];
  return ageMs >= 0 && Number.isFinite(ageMs) && Number.isFinite(leftMs)
    ? { packed, ageMs, leftMs }
    : 'forged';
}
