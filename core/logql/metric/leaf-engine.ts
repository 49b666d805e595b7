import type { LabelSet } from '../../base/labels/label-set.js';
import type { Pacer } from '../../base/pace/pacer.js';
import { eachAtPace } from '../../base/pace/steps.js';
import { rangeFunctions } from '../functions/range/index.js';
import { keepsEmptyLabels } from './shards.js';
import { RangeEngine } from './range-engine.js';
import { countSplits, seriesLimitError } from './series-cap.js';
import type { Columns } from './columns.js';
import type { LeafRequest, MetricLimits, SeriesRow, SeriesTable } from './types.js';

/** The engine of a leaf and its limit on series. */
export interface LeafEngine {
  readonly engine: RangeEngine;
  /** @throws ApiError `seriesLimit` once there are more series than the answer may have */
  readonly checkSeries: () => void;
  /** The series, once the engine is prepared. */
  readonly table: (pacer: Pacer) => Promise<SeriesTable>;
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
    async table(pacer) {
      const labels = rangeFunctions[leaf.range.op].ofNothing?.(leaf.range);
      return {
        rows:
          labels === undefined ? engine.rows() : await rowsOfNothing(labels, engine.rows(), columns, pacer),
        isCut: engine.isCut,
        isGrouped: engine.isDistinct,
      };
    },
  };
}

/** The series that is 1 wherever no other one has a sample. */
async function rowsOfNothing(
  labels: LabelSet,
  rows: Iterable<SeriesRow>,
  { count }: Columns,
  pacer: Pacer,
): Promise<readonly SeriesRow[]> {
  const present = new Uint8Array(count).fill(1);
  await eachAtPace(rows, pacer, (row) => {
    for (let column = 0; column < count; column += 1) if (row.present[column] === 1) present[column] = 0;
  });
  return present.includes(1) ? [{ labels, values: new Float64Array(count).fill(1), present }] : [];
}
