import type { TimeRange } from '../../base/time/range.js';

const nsPerMs = 1_000_000n;

/** The times of a query: a range, widened to multiples of its step, or one instant. */
export type Grid =
  | { readonly kind: 'range'; readonly startMs: number; readonly endMs: number; readonly stepMs: number }
  | { readonly kind: 'instant'; readonly timeNs: bigint };

/** The times at which a query is evaluated: `count` of them, `stepMs` apart. */
export interface Columns {
  readonly kind: Grid['kind'];
  readonly count: number;
  /** The first time in nanoseconds: the windows of an instant query end exactly at the requested time. */
  readonly firstNs: bigint;
  /** 0 for an instant. */
  readonly stepMs: number;
}

/** The grid for a request's range and step, both in nanoseconds; a step is at least a millisecond. */
export function gridOf(range: TimeRange, stepNs: bigint): Grid {
  const stepMs = stepNs < nsPerMs ? 1n : stepNs / nsPerMs;
  return {
    kind: 'range',
    startMs: Number(range.startNs / nsPerMs),
    endMs: Number((range.endNs + nsPerMs - 1n) / nsPerMs),
    stepMs: Number(stepMs),
  };
}

/**
 * The columns of a grid, in whole milliseconds. A range starts at the multiple of the step at or before its start, and ends at or after its
 * end.
 */
export function gridColumns(grid: Grid): Columns {
  if (grid.kind === 'instant') return { kind: 'instant', count: 1, firstNs: grid.timeNs, stepMs: 0 };
  const { startMs, endMs, stepMs } = grid;
  const first = Math.floor(startMs / stepMs);
  const last = Math.ceil(endMs / stepMs);
  return {
    kind: 'range',
    count: Math.max(last - first + 1, 0),
    firstNs: BigInt(first * stepMs) * nsPerMs,
    stepMs,
  };
}

/** The time of the first column as shown in answers. */
export function firstMs({ firstNs }: Columns): number {
  return Number(firstNs / nsPerMs);
}
