import { keepsEmptyLabels } from './empty-labels.js';
import { RangeEngine } from './range-engine.js';
import { countSplits, seriesLimitError } from './series-cap.js';
import type { Columns } from './columns.js';
import type { LeafRequest, MetricLimits } from './types.js';

/** The engine of a leaf and its limit on series. */
export interface LeafEngine {
  readonly engine: RangeEngine;
  /** @throws ApiError `seriesLimit` once there are more series than the answer may have */
  readonly checkSeries: () => void;
}

/** A partial answer shows the busiest of this many times as many series. */
const choice = 20;

/** How many series a partial answer is chosen from: the first ones, as many as a part of all cells allows. 0 for all. */
function seriesToChooseFrom({ maxSeries, maxCells }: MetricLimits, { count }: Columns): number {
  const most = maxCells === 0 ? Infinity : Math.floor(maxCells / 4 / count);
  return Math.max(maxSeries, Math.min(choice * maxSeries, most));
}

/** @param isTallied see EngineOptions */
export function leafEngine(
  { leaf, columns, limits }: Omit<LeafRequest, 'signal'>,
  isTallied = false,
): LeafEngine {
  const { maxSeries, isPartial } = limits;
  const kept = leaf.isRoot && isPartial ? seriesToChooseFrom(limits, columns) : 0;
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
