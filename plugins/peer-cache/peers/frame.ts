/**
 * Values as they travel between replicas: magic, version of the frame, age and time left in milliseconds, HMAC-SHA256, value. Times are
 * durations, because the clocks of two machines differ. The HMAC is keyed by the token of the fleet and is over the key, what stands before it
 * and the value, so that a value that was cut, changed, made by a stranger or kept under another key is told.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { Pacer } from '../../../core/base/pace/pacer.js';
import type { AnswerHit } from '../../../core/cache/answer-tier.js';

const magic = Buffer.from('RPPC');
const version = 1;
/** Magic, version, age, time left. */
const timesAt = magic.byteLength + 1;
const headBytes = timesAt + 16;
const macBytes = 32;
export const frameBytes = headBytes + macBytes;
/** What is hashed at once: about a millisecond. */
const sliceBytes = 512 * 1024;

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
  return Buffer.concat([head, await macOf(key, head, packed, token), packed]);
}

export async function unframed(key: string, bytes: Buffer, token: string): Promise<AnswerHit | FrameDefect> {
  if (!bytes.subarray(0, magic.byteLength).equals(magic)) return 'foreign';
  if (bytes.byteLength <= frameBytes) return 'cut';
  if (bytes.readUInt8(magic.byteLength) !== version) return 'version';
  const head = bytes.subarray(0, headBytes);
  const packed = bytes.subarray(frameBytes);
  const mac = await macOf(key, head, packed, token);
  if (!timingSafeEqual(mac, bytes.subarray(headBytes, frameBytes))) return 'forged';
  const [ageMs, leftMs] = [head.readDoubleBE(timesAt), head.readDoubleBE(timesAt + 8)];
  return ageMs >= 0 && Number.isFinite(ageMs) && Number.isFinite(leftMs)
    ? { packed, ageMs, leftMs }
    : 'forged';
}

async function macOf(key: string, head: Buffer, packed: Buffer, token: string): Promise<Buffer> {
  const text = Buffer.from(key);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(text.byteLength);
  const mac = createHmac('sha256', token).update(length).update(text).update(head);
  const pacer = new Pacer();
  for (let at = 0; at < packed.byteLength; at += sliceBytes) {
    mac.update(packed.subarray(at, at + sliceBytes));
    const pause = pacer.due();
    if (pause !== undefined) await pause;
  }
  return mac.digest();
}
