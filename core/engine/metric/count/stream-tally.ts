import { createHash, randomBytes } from 'node:crypto';
import type { RowReader } from '../../../victoria/names/row-reader.js';
import type { Steps } from '../../../base/pace/steps.js';
import type { StreamIdentity } from '../../../victoria/names/stream-identity.js';

/** Nobody outside can choose streams whose words add up alike. */
const salt = randomBytes(16);
/** Streams that are added in one step. */
const stepStreams = 100;
const mask = (1n << 64n) - 1n;
const words = new WeakMap<StreamIdentity, bigint>();

/**
 * Rows by stream as one number: equal for the same rows of the same streams, and for others by a chance of one in 2^64. Tallies of
 * stretches of time add up to that of them all.
 */
export function* tallyOf(
  reader: RowReader,
  streams: Iterable<readonly [text: string, rows: number]>,
): Steps<bigint> {
  let sum = 0n;
  let count = 0;
  for (const [text, rows] of streams) {
    sum += wordOf(reader.stream(text), text) * BigInt(rows);
    count += 1;
    if (count % stepStreams === 0) yield;
  }
  return sum & mask;
}

/** The tally of several. */
export function addTallies(tallies: readonly bigint[]): bigint {
  return tallies.reduce((sum, tally) => sum + tally, 0n) & mask;
}

function wordOf(stream: StreamIdentity, text: string): bigint {
  let word = words.get(stream);
  if (word === undefined) {
    word = createHash('sha256').update(salt).update(text).digest().readBigUInt64LE();
    words.set(stream, word);
  }
  return word;
}
