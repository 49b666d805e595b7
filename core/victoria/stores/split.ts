import type { TimeRange } from '../../base/time/range.js';

/**
 * The stores that hold rows by time, in Unix nanoseconds: rows before `hotFromNs` are only in the cold store, rows from `coldEndNs` on only
 * in the hot store, and rows in between in either or both. `hotFromNs <= coldEndNs`.
 */
export interface Split {
  readonly hotFromNs: bigint;
  readonly coldEndNs: bigint;
}

/** The contents of the cold store, as reported by itself. */
export interface ColdContents {
  /** The time of its newest row; undefined if it has none. */
  readonly newestNs: bigint | undefined;
  /** True if more rows may have been moved there since. */
  readonly isOld: boolean;
}

/** Rounding error of times in nanoseconds as JSON numbers. */
const inexactNs = 1_000n;

/**
 * Rows within `overlapNs` of the boundary may be in either store. Rows younger than the newest row of the cold store are in the hot store
 * even before the boundary, because they have not been moved yet.
 * @param contents undefined while they are not known
 * @returns undefined if all rows are in the hot store
 */
export function splitAt(
  boundaryNs: bigint,
  overlapNs: bigint,
  contents: ColdContents | undefined,
): Split | undefined {
  const [hotFromNs, coldEndNs] = [boundaryNs - overlapNs, boundaryNs + overlapNs];
  if (contents === undefined) return { hotFromNs, coldEndNs };
  const { newestNs, isOld } = contents;
  if (newestNs === undefined) return isOld ? { hotFromNs, coldEndNs } : undefined;
  const endNs = newestNs + inexactNs;
  return {
    hotFromNs: earlier(hotFromNs, newestNs - inexactNs),
    coldEndNs: isOld ? coldEndNs : earlier(coldEndNs, endNs),
  };
}

function earlier(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

export type StoreSide = 'cold' | 'both' | 'hot';

/** A time range whose rows are all in the same stores. */
export interface StorePart {
  readonly place: StoreSide;
  readonly range: TimeRange;
}

/** Splits a range by store, from old to new; an empty range is a part of the hot store. */
export function storePartsOf(range: TimeRange, { hotFromNs, coldEndNs }: Split): readonly StorePart[] {
  const parts: StorePart[] = [];
  const add = (place: StoreSide, fromNs: bigint, toNs: bigint): void => {
    const startNs = fromNs > range.startNs ? fromNs : range.startNs;
    const endNs = toNs < range.endNs ? toNs : range.endNs;
    if (startNs < endNs) parts.push({ place, range: { startNs, endNs } });
  };
  add('cold', range.startNs, hotFromNs);
  add('both', hotFromNs, coldEndNs);
  add('hot', coldEndNs, range.endNs);
  return parts.length === 0 ? [{ place: 'hot', range }] : parts;
}
