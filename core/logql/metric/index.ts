export { gridColumns, firstMs, gridFor, gridOf, type Columns, type Grid } from './windows.js';
export {
  addEntries,
  EntryCounter,
  entryLeafSource,
  unpackTable,
  type EntrySource,
} from './entry-leaf-source.js';
export { leafEngine, leafTable, type LeafEngine } from './entry-leaf-source.js';
export { evaluateMetric, evaluatePlanned, isOverBinary } from './evaluate.js';
export { pipelineError } from './entry-leaf-source.js';
export { isDividedAverage, readsErrors } from './shards.js';
export { planLeaves, type MetricSettings } from './plan-leaves.js';
export { RangeEngine, transfersOf, type EngineLimits, type PackedEngine } from './range-engine.js';
export { binaryLimits, defaultMetricLimits, emptyRow } from './work.js';
export { leavesOf, mapLeaves, type MetricTree, type PlannedMetric } from './work.js';
export type * from './work.js';
export { isMatchingError } from './vector-binary.js';
export { RangeWindows } from './windows.js';
