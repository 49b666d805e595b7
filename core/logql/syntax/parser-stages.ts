import { compileRegExp } from '../regexp/index.js';
import { parsePattern, PatternError } from '../pattern.js';
import { abort } from './invalid.js';
import { regexpFault } from './matchers.js';

/** Refuses a `regexp` stage whose pattern is invalid, has no named group, or names one twice. */
export function checkRegexpStage(pattern: string): void {
  const fault = regexpFault(pattern) ?? groupNamesFault(compileRegExp(pattern).groupNames);
  if (fault !== undefined) abort(`invalid regexp parser: ${fault}`);
}

function groupNamesFault(names: readonly string[]): string | undefined {
  if (names.length === 0) return 'at least one named capture must be supplied';
  const repeated = names.find((name, index) => names.indexOf(name) < index);
  return repeated === undefined ? undefined : `duplicate extracted label name '${repeated}'`;
}

/** Refuses a `pattern` stage whose expression is invalid or captures nothing. */
export function checkPatternStage(pattern: string): void {
  try {
    parsePattern(pattern, 'captures');
  } catch (error) {
    if (error instanceof PatternError) abort(`invalid pattern parser: ${error.message}`);
    throw error;
  }
}
