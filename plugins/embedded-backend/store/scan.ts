import { type Block, type BlockView, lowerBound } from './block.js';
import type { Stream } from './stream.js';

/** `any` walks stream by stream; `asc` and `desc` merge all streams by time. */
export type ScanOrder = 'any' | 'asc' | 'desc';

/** Consecutive rows of one block: `from`, `from + step`, ... up to but not including `to`. */
export interface Slice {
  readonly stream: Stream;
  readonly view: BlockView;
  readonly from: number;
  readonly to: number;
  readonly step: 1 | -1;
}

/** A closed time range in nanoseconds. */
export interface TimeRange {
  readonly minNs: bigint;
  readonly maxNs: bigint;
}

/** Maximum length of a slice, so that a reader that stops early has not received many rows too many. */
const SLICE_ROWS = 512;

/**
 * Reads the rows of `streams` in `range`. `desc` is exactly the reverse of `asc`; rows with equal times are ordered by stream, then by
 * insertion. Blocks outside the range are never touched, and the ordered scans only open a block when they reach its time.
 */
export function* scan(
  streams: readonly Stream[],
  range: TimeRange,
  order: ScanOrder,
): Generator<Slice, void> {
  if (order === 'any') yield* scanAny(streams, range);
  else yield* scanMerged(streams, range, order);
}

function overlaps(block: Block, range: TimeRange): boolean {
  return block.length > 0 && block.minNs <= range.maxNs && block.maxNs >= range.minNs;
}

/** The rows of `block` inside `range`: `lo` up to but not including `hi`. */
export function blockBounds(block: Block, range: TimeRange): { view: BlockView; lo: number; hi: number } {
  const view = block.view();
  const lo = block.minNs >= range.minNs ? 0 : lowerBound(view, range.minNs);
  const hi = block.maxNs <= range.maxNs ? view.length : lowerBound(view, range.maxNs + 1n);
  return { view, lo, hi };
}

function* scanAny(streams: readonly Stream[], range: TimeRange): Generator<Slice, void> {
  for (const stream of streams) {
    for (const block of [...stream.blocks]) {
      if (!overlaps(block, range)) continue;
      const { view, lo, hi } = blockBounds(block, range);
      for (let from = lo; from < hi; from += SLICE_ROWS) {
        yield { stream, view, from, to: Math.min(from + SLICE_ROWS, hi), step: 1 };
      }
    }
  }
}

/** A block in the merge: while unopened (`view` undefined), its key is the boundary of its time range. */
interface Cursor {
  readonly stream: Stream;
  readonly block: Block;
  readonly blockNo: number;
  key: bigint;
  view: BlockView | undefined;
  at: number;
  end: number;
}

function* scanMerged(
  streams: readonly Stream[],
  range: TimeRange,
  order: 'asc' | 'desc',
): Generator<Slice, void> {
  const step = order === 'asc' ? 1 : -1;
  const before = order === 'asc' ? isBefore : (a: Cursor, b: Cursor) => isBefore(b, a);
  const heap: Cursor[] = [];
  for (const stream of streams) {
    for (const [blockNo, block] of stream.blocks.entries()) {
      if (!overlaps(block, range)) continue;
      const key = order === 'asc' ? block.minNs : block.maxNs;
      heap.push({ stream, block, blockNo, key, view: undefined, at: 0, end: 0 });
    }
  }
  for (let i = (heap.length >> 1) - 1; i >= 0; i--) siftDown(heap, i, before);

  for (let top = heap[0]; top !== undefined; top = heap[0]) {
    if (top.view === undefined) {
      const { view, lo, hi } = blockBounds(top.block, range);
      top.view = view;
      top.at = step === 1 ? lo : hi - 1;
      top.end = step === 1 ? hi : lo - 1;
      if (lo >= hi) dropTop(heap, before);
      else {
        top.key = view.times[top.at] ?? 0n;
        siftDown(heap, 0, before);
      }
      continue;
    }
    const rival =
      heap[2] !== undefined && heap[1] !== undefined && before(heap[2], heap[1]) ? heap[2] : heap[1];
    const from = top.at;
    let count = 0;
    do {
      top.at += step;
      count++;
      if (top.at === top.end) break;
      top.key = top.view.times[top.at] ?? 0n;
    } while (count < SLICE_ROWS && (rival === undefined || before(top, rival)));
    const { stream, view } = top;
    const to = top.at;
    if (top.at === top.end) dropTop(heap, before);
    else siftDown(heap, 0, before);
    yield { stream, view, from, to, step };
  }
}

function isBefore(a: Cursor, b: Cursor): boolean {
  if (a.key !== b.key) return a.key < b.key;
  if (a.stream !== b.stream) return a.stream.ordinal < b.stream.ordinal;
  return a.blockNo < b.blockNo;
}

function dropTop(heap: Cursor[], before: (a: Cursor, b: Cursor) => boolean): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  heap[0] = last;
  siftDown(heap, 0, before);
}

function siftDown(heap: Cursor[], start: number, before: (a: Cursor, b: Cursor) => boolean): void {
  let i = start;
  const item = heap[i];
  if (item === undefined) return;
  for (;;) {
    let child = 2 * i + 1;
    let best = heap[child];
    if (best === undefined) break;
    const right = heap[child + 1];
    if (right !== undefined && before(right, best)) {
      child++;
      best = right;
    }
    if (!before(best, item)) break;
    heap[i] = best;
    i = child;
  }
  heap[i] = item;
}
