import type { LineFilterStage, LineFilterTerm, StringLabelFilter } from '../ast.js';
import { plainTexts } from '../regexp/plain-texts.js';
import { simplifiedRegexp } from './regexp-simplification.js';

/** The condition of a filter on a text (a line or a label's value): any of the tests must hold, or none. */
export interface Meaning {
  readonly tests: readonly FilterTest[];
  readonly isNegated: boolean;
}

export type FilterTest =
  | { readonly kind: 'all' | 'not-empty' }
  /** With `ignoresCase` the text is in lower case, and is compared as Loki does (see casesOfText in filter-test.ts). */
  | { readonly kind: 'contains' | 'equals'; readonly text: string; readonly ignoresCase: boolean }
  | { readonly kind: 'regexp'; readonly pattern: string; readonly anchored: boolean }
  | { readonly kind: 'pattern' | 'ip'; readonly value: string };

type Tests = readonly FilterTest[];

const all: Tests = [{ kind: 'all' }];

/**
 * The condition of a line filter. Both evaluation and pushdown use it, so that they cannot differ. Its alternatives were checked when the
 * query was parsed.
 */
export function lineMeaning({ op, alternatives, isExact = false }: LineFilterStage): Meaning {
  const terms = alternatives.map((term) => termTests(op, term, isExact));
  return { tests: isExact ? anyOf(terms) : chained(terms), isNegated: op.startsWith('!') };
}

/** The condition of a comparison of a label with a text. */
export function labelMeaning({ op, value, isExact = false }: StringLabelFilter): Meaning {
  switch (op) {
    case '=':
    case '!=':
      return { tests: [{ kind: 'equals', text: value, ignoresCase: false }], isNegated: op === '!=' };
    case '=~':
    case '!~':
      return { tests: regexpTests(value, true, isExact), isNegated: op === '!~' };
  }
}

function termTests(op: LineFilterStage['op'], { kind, value }: LineFilterTerm, isExact: boolean): Tests {
  if (kind === 'ip') return [{ kind, value }];
  switch (op) {
    case '|=':
    case '!=':
      return containsTests(value);
    case '|~':
    case '!~':
      return regexpTests(value, false, isExact);
    case '|>':
    case '!>':
      return [{ kind: 'pattern', value }];
  }
}

function regexpTests(pattern: string, isLabel: boolean, isExact: boolean): Tests {
  const simplified = isExact ? undefined : simplifiedRegexp(pattern, isLabel);
  if (simplified !== undefined) return simplified;
  const texts = plainTexts(pattern);
  // Loki does not notice that an unchanged pattern matches everything.
  if (texts === undefined || (!isExact && texts.includes('')))
    return [{ kind: 'regexp', pattern, anchored: isLabel }];
  return anyOf(texts.map(isLabel ? equalsTests : containsTests));
}

function containsTests(text: string): Tests {
  return text === '' ? all : [{ kind: 'contains', text, ignoresCase: false }];
}

function equalsTests(text: string): Tests {
  return [{ kind: 'equals', text, ignoresCase: false }];
}

/**
 * The alternatives of a line filter as Loki joins them, one after the other: it drops an alternative that matches every line, but no longer
 * detects one after joining it. `"" or "" or "a"` matches every line, `"" or "a"` and `"a" or "" or ""` do not.
 */
function chained([first = all, second, ...others]: readonly Tests[]): Tests {
  if (second === undefined) return first;
  const joined = isAll(first) ? second : isAll(second) ? first : [...first, ...second];
  const rest = others.filter((tests) => !isAll(tests));
  return anyOf([joined, ...rest]);
}

function anyOf(alternatives: readonly Tests[]): Tests {
  return alternatives.some(isAll) ? all : alternatives.flat();
}

function isAll([first]: Tests): boolean {
  return first?.kind === 'all';
}
