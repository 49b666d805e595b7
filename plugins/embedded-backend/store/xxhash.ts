const MASK = (1n << 64n) - 1n;
const PRIME_1 = 0x9e3779b185ebca87n;
const PRIME_2 = 0xc2b2ae3d27d4eb4fn;
const PRIME_3 = 0x165667b19e3779f9n;
const PRIME_4 = 0x85ebca77c2b2ae63n;
const PRIME_5 = 0x27d4eb2f165667c5n;

function rotate(value: bigint, bits: bigint): bigint {
  return ((value << bits) | (value >> (64n - bits))) & MASK;
}

function round(lane: bigint, input: bigint): bigint {
  return (rotate((lane + input * PRIME_2) & MASK, 31n) * PRIME_1) & MASK;
}

/** The public xxHash64 of some bytes with seed 0. Slow because it uses bigints: intended for keys, not for data. */
export function xxHash64(input: Buffer): bigint {
  let at = 0;
  let hash = PRIME_5;
  if (input.length >= 32) {
    const lanes = [(PRIME_1 + PRIME_2) & MASK, PRIME_2, 0n, -PRIME_1 & MASK];
    for (; at + 32 <= input.length; at += 32) {
      for (const [i, lane] of lanes.entries()) lanes[i] = round(lane, input.readBigUInt64LE(at + 8 * i));
    }
    hash = lanes.reduce((sum, lane, i) => sum + rotate(lane, [1n, 7n, 12n, 18n][i] ?? 0n), 0n) & MASK;
    for (const lane of lanes) hash = ((hash ^ round(0n, lane)) * PRIME_1 + PRIME_4) & MASK;
  }
  hash = (hash + BigInt(input.length)) & MASK;
  for (; at + 8 <= input.length; at += 8) {
    hash = (rotate(hash ^ round(0n, input.readBigUInt64LE(at)), 27n) * PRIME_1 + PRIME_4) & MASK;
  }
  if (at + 4 <= input.length) {
    const word = (BigInt(input.readUInt32LE(at)) * PRIME_1) & MASK;
    hash = (rotate(hash ^ word, 23n) * PRIME_2 + PRIME_3) & MASK;
    at += 4;
  }
  for (; at < input.length; at++) {
    const byte = (BigInt(input.readUInt8(at)) * PRIME_5) & MASK;
    hash = (rotate(hash ^ byte, 11n) * PRIME_1) & MASK;
  }
  hash = ((hash ^ (hash >> 33n)) * PRIME_2) & MASK;
  hash = ((hash ^ (hash >> 29n)) * PRIME_3) & MASK;
  return hash ^ (hash >> 32n);
}
