import type { FilterTest } from '../../../../logql/pipeline/filter-meaning.js';
import { requiredTexts } from '../../../../logql/regexp/required.js';
import type { LogsqlFilter } from '../../../../victoria/logsql/ast.js';
import { everything, or, substring } from '../../../../victoria/logsql/build.js';
import { kindOfRule } from '../rule.js';

/** One of the tests that a line filter makes of the stored line, of which any may hold. */
export interface LineTerm {
  readonly test: FilterTest;
  /** Whether lines pass for which no test holds. */
  readonly isNegated: boolean;
}

/** Defines a rule about a test of a line filter; what it emits is negated around it where the filter is. */
export const lineRule = kindOfRule<LineTerm, LogsqlFilter>();

export const lineField = '_msg';

/** Lines that hold the text. */
export function contains(text: string): LogsqlFilter {
  return text === '' ? everything : substring(lineField, text);
}

/** For each text that all matches of the pattern hold, in whatever case, the lines that hold it. */
export function containsTextsOf(pattern: string): readonly LogsqlFilter[] {
  return requiredTexts(pattern).map((list) => or(...list.map(contains)));
}

/** The pattern of a test that is one. */
export function regexpOf({ test }: LineTerm): string | undefined {
  return test.kind === 'regexp' ? test.pattern : undefined;
}
