import { compileRegExp } from '../../regexp/index.js';
import { parsePattern, PatternError } from '../pattern.js';
import { abort } from './invalid.js';
import { regexpFault } from './matchers.js';

/** Refuses a `regexp` stage whose pattern is faulty or names no label. */
export function checkRegexpStage(pattern: string): void {
  const prefix = 'invalid regexp parser: ';
  // RE2 here refuses a repeated group name, Loki does so itself with its own words.
  const repeated = /^error parsing regexp: duplicate capture group name: `(.*)`$/s;
  const fault = regexpFault(pattern);
  const name = fault === undefined ? undefined : repeated.exec(fault)?.[1];
  if (name !== undefined) abort(`${prefix}duplicate extracted label name '${name}'`);
  if (fault !== undefined) abort(prefix + fault);
  if (compileRegExp(pattern).groupNames.length === 0) {
    abort(`${prefix}at least one named capture must be supplied`);
  }
}

/** Refuses a `pattern` stage whose expression is faulty or captures nothing. */
export function checkPatternStage(pattern: string): void {
  try {
    parsePattern(pattern, 'captures');
  } catch (error) {
    if (error instanceof PatternError) abort(`invalid pattern parser: ${error.message}`);
    throw error;
  }
}
