import { clipped, isWithin } from '../../../base/order.js';
import type { TimeRange } from '../../../base/time/range.js';
import type { LogsqlFilter } from '../../../victoria/logsql/ast.js';
import type { BackendValue, Upstream } from '../../../victoria/upstream/types.js';
import { countByTime } from '../../rows/count-by-time.js';

/** A part of a time range. */
export interface TimeSegment extends TimeRange {
  /** True if the segment has one of the standard lengths, which are worth caching. */
  readonly isWhole: boolean;
}

/** True when a time lies in a range. */
export function isIn({ startNs, endNs }: TimeRange, ns: bigint): boolean {
  return startNs <= ns && ns < endNs;
}

const minuteNs = 60_000_000_000n;
/** Maximum number of long segments in one range; a longer range uses longer segments. Enough for a day of hours. */
const maxSegments = 26n;
/** Segment lengths in minutes; each is a multiple of the one before. */
const lengths = [5n, 15n, 60n, 240n, 1440n, 10_080n] as const;
const shortestNs = lengths[0] * minuteNs;
/** Long segments are at least this long, so that a part of a range is split into segments of the whole range. */
const longNs = lengths[2] * minuteNs;

/** The length of the parts of a segment that has a standard length. */
export function partLengthOf({ startNs, endNs }: TimeRange): bigint | undefined {
  const index = lengths.findIndex((length) => length * minuteNs === endNs - startNs);
  const part = lengths[index - 1];
  return part === undefined ? undefined : part * minuteNs;
}

/** The segments of standard lengths that contain a range, from short to long. */
export function segmentsAround(range: TimeRange): readonly TimeSegment[] {
  return lengths
    .map((length) => {
      const startNs = borderBefore(range.startNs, length * minuteNs);
      return { startNs, endNs: startNs + length * minuteNs, isWhole: true };
    })
    .filter((around) => isWithin(range, around));
}

/**
 * The whole segments around a range. Inspecting all of them costs little more than inspecting the range, and the findings remain useful for
 * later ranges with other bounds. A range shorter than any segment is returned as it is.
 */
export function wholeSegments(range: TimeRange): TimeRange {
  if (range.endNs - range.startNs < shortestNs) return range;
  const startNs = borderBefore(range.startNs, shortestNs);
  return {
    startNs: startNs < range.startNs ? startNs : range.startNs,
    endNs: borderAfter(range.endNs - 1n, shortestNs),
  };
}

/**
 * The last border at or before a time. Segments begin one nanosecond after a multiple of their length, because windows include their end
 * instead of their start.
 */
function borderBefore(ns: bigint, lengthNs: bigint): bigint {
  return ((ns - 1n) / lengthNs) * lengthNs + 1n;
}

function borderAfter(ns: bigint, lengthNs: bigint): bigint {
  return ((ns - 1n) / lengthNs + 1n) * lengthNs + 1n;
}

/** Splits a range into segments. Those that still receive rows are not whole, and are not remembered. */
export function segmentsUntil(range: TimeRange, nowNs: bigint): readonly TimeSegment[] {
  const nextNs = borderAfter(nowNs, shortestNs);
  if (range.endNs < nextNs) return segmentsOf(range);
  const currentNs = nextNs - shortestNs;
  const { startNs, endNs } = range;
  if (startNs >= currentNs) return [{ startNs, endNs, isWhole: false }];
  return [...segmentsOf({ startNs, endNs: currentNs }), { startNs: currentNs, endNs, isWhole: false }];
}

/**
 * Splits a range into segments of an hour (or of another length, for short and long ranges), then into shorter and shorter segments, and a
 * remainder that is not whole.
 */
export function segmentsOf(range: TimeRange): readonly TimeSegment[] {
  const spanNs = range.endNs - range.startNs;
  const longest = lengths.findIndex(
    (length) => length * minuteNs >= longNs && spanNs / (length * minuteNs) < maxSegments,
  );
  let segments: readonly TimeSegment[] = [{ ...range, isWhole: false }];
  for (const length of lengths.slice(0, longest + 1).reverse())
    segments = segments.flatMap((segment) => (segment.isWhole ? [segment] : cut(segment, length * minuteNs)));
  return segments;
}

/** Splits a range at the borders of segments of this length; shorter pieces remain at both ends. */
function cut({ startNs, endNs }: TimeRange, lengthNs: bigint): readonly TimeSegment[] {
  const segments: TimeSegment[] = [];
  for (let at = startNs; at < endNs;) {
    const border = borderAfter(at, lengthNs);
    const next = border < endNs ? border : endNs;
    segments.push({ startNs: at, endNs: next, isWhole: next - at === lengthNs });
    at = next;
  }
  return segments;
}

/** Rows per call if they are not held in memory. The backend aborts calls that exceed its own deadline, by default 30 s. */
export const callRows = 250_000;

export function rowsOfStreams(listed: readonly BackendValue[]): number {
  return listed.reduce((sum, { hits }) => sum + hits, 0);
}

/** A time segment with its number of rows at the time of the count. */
interface RowWindow {
  readonly range: TimeRange;
  readonly rows: number;
}

/** Number of buckets per counting query. */
const parts = 128n;
const shortestPartNs = 1_000_000n;

/**
 * Splits a range into windows of at most `maxRows` rows, as far as timestamps allow, from old to new; windows without rows are left out.
 * Rows that arrive meanwhile do no harm: they are in one of the windows, or too new for the query.
 */
export async function planWindows(
  upstream: Upstream,
  filter: LogsqlFilter,
  range: TimeRange,
  maxRows: number,
): Promise<readonly RowWindow[]> {
  const lengthNs = range.endNs - range.startNs;
  if (lengthNs <= 0n) return [];
  const partNs = lengthNs / parts < shortestPartNs ? shortestPartNs : lengthNs / parts;
  const counts = await countByTime(filter, range, partNs, upstream);
  const windows: RowWindow[] = [];
  let open: RowWindow | undefined;
  for (const { startNs, rows } of counts) {
    const part = { range: clipped({ startNs, endNs: startNs + partNs }, range), rows };
    if (open !== undefined && open.rows + rows <= maxRows) {
      open = { range: { startNs: open.range.startNs, endNs: part.range.endNs }, rows: open.rows + rows };
      continue;
    }
    if (open !== undefined) windows.push(open);
    open = undefined;
    if (rows <= maxRows || partNs === shortestPartNs) open = part;
    else windows.push(...(await planWindows(upstream, filter, part.range, maxRows)));
  }
  if (open !== undefined) windows.push(open);
  return windows;
}
