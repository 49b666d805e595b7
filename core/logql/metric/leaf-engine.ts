import { keepsEmptyLabels } from './empty-labels.js';
import { RangeEngine } from './range-engine.js';
import { countSplits, seriesLimitError } from './series-cap.js';
import type { LeafRequest } from './types.js';

/** The engine of a leaf and its limit on series. */
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
  // A partial answer only shows the first series, in the order of their samples.
  const kept = leaf.isRoot && isPartial ? maxSeries : 0;
  const engine = new RangeEngine(leaf.range, columns, limits, {
    folded: leaf.pushed ?? leaf.folded,
    maxSeries: kept,
    keepsEmpty: keepsEmptyLabels(leaf),
    isTallied,
  });
  // Every series has a sample in at least one split, and the limit applies to each split.
  const isBounded = (leaf.isRoot || leaf.isCapped) && !isPartial && maxSeries > 0;
  const most = leaf.isRoot ? maxSeries : maxSeries * countSplits(columns, limits.splitMs);
  return {
    engine,
    checkSeries() {
      if (isBounded && engine.seriesCount > most) throw seriesLimitError(maxSeries);
    },
  };
}
