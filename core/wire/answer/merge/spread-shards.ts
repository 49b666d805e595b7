import type { ShardResult, StreamTotals } from '../types.js';

const fingerprints = 2n ** 64n;
/** Maximum number of shards; readers gain nothing from more. */
const maxShards = 256;

/** The smallest power of two such that equal parts are not larger than `targetBytes`. */
export function shardCount(bytes: number, targetBytes: number): number {
  let count = 1;
  while (count < maxShards && bytes / count > targetBytes) count *= 2;
  return count;
}

/** Divides the fingerprint range into equal shards. The backend has no fingerprints, so the totals are spread evenly. */
export function spreadShards(totals: StreamTotals, count: number): readonly ShardResult[] {
  const width = fingerprints / BigInt(count);
  return Array.from({ length: count }, (_part, index) => {
    const min = width * BigInt(index);
    const part = (value: number): number =>
      Math.floor((value * (index + 1)) / count) - Math.floor((value * index) / count);
    return {
      min,
      max: min + width - 1n,
      streams: part(totals.streams),
      chunks: part(totals.chunks),
      bytes: part(totals.bytes),
      entries: part(totals.entries),
    };
  });
}
