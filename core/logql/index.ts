export type * from './ast.js';
export { isIpPattern } from './check/ip.js';
export { dropUnusedLineFormats } from './check/line-formats.js';
export { matchesEmpty } from './check/matchers.js';
export { checkStages, checkSteps } from './check/stages.js';
export { makeMatcher } from './matcher.js';
export { LogqlError } from './error.js';
export { evaluateEntry, type EvaluatedEntry, type PipelineEntry } from './evaluate-entry.js';
export { foldLiterals } from './fold.js';
export {
  formatQuery,
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
export { printLabelFilter, printMatcher } from './print/label-filter.js';
export { printPlain } from './print/plain.js';
export { printQuery } from './print/pretty.js';
export { printSelector, printStage, printStages } from './print/stages.js';
export { parseTemplate, TemplateSyntaxError } from './template/parse.js';
export type * from './template/ast.js';
export { childrenOf, logQueriesOf, mapMatchers, visit, type AstNode } from './walk.js';
export {
  entryLeafSource,
  evaluateMetric,
  gridOf,
  type Grid,
  type LeafSource,
  type MetricLimits,
  type MetricResult,
} from './metric/index.js';
