import { randomInt } from 'node:crypto';

const [key0, key1] = [randomInt(2 ** 32), randomInt(2 ** 32)];

/**
 * HalfSipHash-1-3 of some bytes, under a key of this process: whoever writes logs chooses values, and could otherwise choose such that all
 * fall into one slot.
 */
export function hashOf(bytes: Uint8Array, from: number, to: number): number {
  let v0 = key0 | 0;
  let v1 = key1 | 0;
  let v2 = 0x6c796765 ^ key0;
  let v3 = 0x74656462 ^ key1;
  const whole = from + ((to - from) & ~3);
  let rounds = ((to - from) >> 2) + 4;
  for (let at = from; rounds > 0; at += 4, rounds -= 1) {
    let word = 0;
    if (at < whole) word = wordAt(bytes, at, 4);
    else if (at === whole) word = wordAt(bytes, at, to - at) | ((to - from) << 24);
    else if (at === whole + 4) v2 ^= 0xff;
    v3 ^= word;
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    v0 ^= word;
  }
  return (v1 ^ v3) >>> 0;
}

function wordAt(bytes: Uint8Array, at: number, count: number): number {
  let word = 0;
  for (let index = 0; index < count; index += 1) word |= (bytes[at + index] ?? 0) << (8 * index);
  return word;
}
