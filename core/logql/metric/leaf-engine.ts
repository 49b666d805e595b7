import { keepsEmptyLabels } from './empty-labels.js';
import { RangeEngine } from './range-engine.js';
import { countSplits, seriesLimitError } from './series-cap.js';
import type { LeafRequest } from './types.js';

/** The engine of a leaf, with the limits that the query holds it to. */
export interface LeafEngine {
  readonly engine: RangeEngine;
  /** @throws ApiError `seriesLimit` once there are more series than the answer may have */
  readonly checkSeries: () => void;
}

/** @param isTallied see EngineOptions */
export function leafEngine(
  { leaf, columns, limits }: Omit<LeafRequest, 'signal'>,
  isTallied = false,
): LeafEngine {
  const { maxSeries, isPartial } = limits;
  // Of a partial answer nobody sees more than the first series; which these are the order of samples tells.
  const kept = leaf.isRoot && isPartial ? maxSeries : 0;
  const engine = new RangeEngine(leaf.range, columns, limits, {
    folded: leaf.pushed ?? leaf.folded,
    maxSeries: kept,
    keepsEmpty: keepsEmptyLabels(leaf),
    isTallied,
  });
  // Every series has a sample in one of the splits, each of which may have so many.
  const isBounded = (leaf.isRoot || leaf.isCapped) && !isPartial && maxSeries > 0;
  const most = leaf.isRoot ? maxSeries : maxSeries * countSplits(columns, limits.splitMs);
  return {
    engine,
    checkSeries() {
      if (isBounded && engine.seriesCount > most) throw seriesLimitError(maxSeries);
    },
  };
}
