export type * from './ast.js';
export { LogqlError } from './error.js';
export { parseMatchers, parseQuery, requireNonEmptyMatcher, type ParseOptions } from './parse.js';
export { parsePattern, PatternError, type PatternPart } from './pattern.js';
