import type { LineFilterStage, LineFilterTerm, StringLabelFilter } from '../ast.js';
import { plainTexts } from '../regexp/plain-texts.js';
import { simplifiedRegexp } from './regexp-simplification.js';

/** What a filter asks of a text, of a line or of a label's value: that one of the tests holds, or that none does. */
export interface Meaning {
  readonly tests: readonly FilterTest[];
  readonly isNegated: boolean;
}

export type FilterTest =
  | { readonly kind: 'all' | 'not-empty' }
  /** With `ignoresCase` the text is in lower case, and compared as Loki does it (see text-in-any-case.ts). */
  | { readonly kind: 'contains' | 'equals'; readonly text: string; readonly ignoresCase: boolean }
  | { readonly kind: 'regexp'; readonly pattern: string; readonly anchored: boolean }
  | { readonly kind: 'pattern' | 'ip'; readonly value: string };

type Tests = readonly FilterTest[];

const all: Tests = [{ kind: 'all' }];

/**
 * What a line filter asks of a line. Evaluation and pushdown both read this, so that they cannot differ. Its alternatives were checked when
 * the query was parsed.
 */
export function lineMeaning({ op, alternatives, isExact = false }: LineFilterStage): Meaning {
  const terms = alternatives.map((term) => termTests(op, term, isExact));
  return { tests: isExact ? anyOf(terms) : chained(terms), isNegated: op.startsWith('!') };
}

/** What a comparison of a label with a text asks of the label's value. */
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
  // Loki does not know that a pattern it has left alone lets everything pass.
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
 * The alternatives of a line filter as Loki joins them, one after the other: it leaves out what lets every line pass, but no longer knows
 * it once it has been joined. `"" or "" or "a"` lets every line pass, `"" or "a"` and `"a" or "" or ""` do not.
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
