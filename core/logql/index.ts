/** LogQL as a library (`ref-proxy/logql`, docs/logql.md). */
export { RefusedQuery } from '../base/errors/refused-query.js';
export { LabelSet, type Label } from '../base/label-set.js';
export { MemoryAccount, type MemorySource, type MemoryUse } from '../base/memory/account.js';
export type { Steps } from '../base/pace/steps.js';
export type { TimeRange } from '../base/time/range.js';
export type * from './ast.js';
export { isIpPattern } from './check/faults.js';
export { matchesEmpty } from './check/faults.js';
export { checkStages, checkSteps } from './check/stages.js';
export { makeMatcher } from './walk.js';
export { LogqlError } from './error.js';
export { evaluateEntry, type EntryToEvaluate, type EvaluatedEntry, type Labels } from './evaluate-entry.js';
export { withFilters, type Filters } from './walk.js';
export { foldLiterals } from './fold.js';
export { isSorting } from './functions/vector/index.js';
export {
  checkSelectors,
  formatQuery,
  matchersSteps,
  parseMatchers,
  parseQuery,
  parseSteps,
  requireNonEmptyMatcher,
  type ParseOptions,
} from './parse.js';
export { parseJsonPath, type JsonPath } from './paths/json-path.js';
export { parseLogfmtKey } from './paths/logfmt-key.js';
export { PathError } from './paths/scanner.js';
export { parsePattern, PatternError, type PatternPart } from './pattern.js';
export { printLabelFilter, printMatcher } from './stages/label-filter.js';
export { printPlain } from './print.js';
export { printQuery } from './print.js';
export { printSelector, printStage, printStages } from './stages/index.js';
export { parseTemplate, TemplateSyntaxError } from './template/parse.js';
export type * from './template/ast.js';
export { childrenOf, logQueriesOf, mapLogQueries, mapMatchers, visit, type AstNode } from './walk.js';
export { LineWorkers, type LineWorkerObserver, type LineWorkerOptions } from './lines/line-workers.js';
export type { LineWork } from './lines/work.js';
export type { Columns } from './metric/windows.js';
export {
  defaultMetricLimits,
  entryLeafSource,
  evaluateMetric,
  gridOf,
  type BinaryLimits,
  type EntrySource,
  type Grid,
  type Leaf,
  type LeafRequest,
  type LeafSource,
  type MetricLimits,
  type MetricResult,
  type Warned,
  type SeriesRow,
  type SeriesTable,
} from './metric/index.js';
export type { Point, SampleResult, SeriesResult } from './metric/work.js';
export type { PipelineEntry } from './pipeline/types.js';
export { dropUnusedLineFormats } from './pipeline/output.js';
