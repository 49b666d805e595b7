import type { TimeRange } from '../../base/time/range.js';

/**
 * Where rows lie, in Unix nanoseconds: those before `hotFromNs` in the cold store alone, those from `coldEndNs` on in the hot store alone, and
 * those between in either or in both. `hotFromNs <= coldEndNs`.
 */
export interface Split {
  readonly hotFromNs: bigint;
  readonly coldEndNs: bigint;
}

/** The contents of the cold store, as it reports them. */
export interface ColdContents {
  /** The time of its newest row; undefined when it has none. */
  readonly newestNs: bigint | undefined;
  /** True when more rows may have been moved there since. */
  readonly isOld: boolean;
}

/** Times in nanoseconds are too long for the numbers of JSON. */
const inexactNs = 1_000n;

/**
 * Rows around the boundary may be in either store, `overlapNs` to both sides. What is younger than the newest row of the cold store is in
 * the hot one, also before the boundary: it has not been moved yet.
 * @param contents undefined while they are not known
 * @returns undefined when all rows are in the hot store
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

/** A stretch of time whose rows are in one place. */
export interface StorePart {
  readonly place: StoreSide;
  readonly range: TimeRange;
}

/** A range by places, from old to new; an empty one is a part of the hot store. */
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
