import type { TimeRange } from '../../../base/time/range.js';
import type { LogRange } from '../../../logql/ast.js';
import { Windows, type Columns } from '../../../logql/metric/index.js';

/** Buckets of time such that the window of every column is a whole number of them. */
export interface Buckets {
  /** From the first moment of the first bucket to behind the last moment of the last one. */
  readonly range: TimeRange;
  readonly stepNs: bigint;
  /** A bucket begins this long behind a multiple of the step: windows hold their end and not their begin. */
  readonly shiftNs: bigint;
  readonly count: number;
}

const nsPerMs = 1_000_000n;

/**
 * The buckets of a range aggregation, of gcd(range, step) each. Undefined when there are none, or when their begins, which the
 * backend shows to the millisecond, could not be told apart.
 */
export function bucketsOf(columns: Columns, range: LogRange): Buckets | undefined {
  const windows = new Windows(columns, range);
  if (windows.buckets === 0) return undefined;
  const { fromNs, toNs } = windows.interval;
  const lengthNs = toNs - fromNs + 1n;
  const isSingle = columns.count === 1;
  if (!isSingle && (fromNs - 1n) % nsPerMs !== 0n) return undefined;
  const stepNs = isSingle
    ? lengthNs
    : gcd(range.intervalNanoseconds / nsPerMs, BigInt(columns.stepMs)) * nsPerMs;
  return {
    range: { startNs: fromNs, endNs: toNs + 1n },
    stepNs,
    shiftNs: fromNs % stepNs,
    count: Number(lengthNs / stepNs),
  };
}

/** The last moment of the bucket that begins at these seconds, as the backend shows them. */
export function endOfBucket(seconds: number, { range, stepNs, count }: Buckets): bigint {
  return count === 1 ? range.endNs - 1n : BigInt(Math.round(seconds * 1000)) * nsPerMs + stepNs;
}

function gcd(a: bigint, b: bigint): bigint {
  return b === 0n ? a : gcd(b, a % b);
}
