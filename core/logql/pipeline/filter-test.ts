import type { LineFilterStage, LineFilterTerm, MatchOp, StringLabelFilter } from '../ast.js';
import { loweredTo } from '../regexp/folding.js';
import { compileRegExp } from '../regexp/index.js';
import { containsOne, equalsOne, plainTexts } from '../regexp/plain-texts.js';
import { compileIpFilter } from './ip-matcher.js';
import { simplifiedRegexp } from './regexp-simplification.js';
import { ownText } from './slot.js';
import type { LineTest } from './types.js';
import { Meter } from './work-line.js';

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

/** Returns true if a text (a line or a label's value) passes a filter. */
export type TextTest = (text: string) => boolean;

/** Nanoseconds per character of the text, and per searched text or per character of these. */
const textCost = 1;
const manyTextsCost = 20;

/** Compiles the condition of a filter. */
export function compileMeaning({ tests, isNegated }: Meaning, meter: Meter): TextTest {
  const compiled = [...compileTextTests(tests, meter), ...compileOthers(tests, meter)];
  const [first = never, ...others] = compiled;
  const any: TextTest =
    others.length === 0 ? first : (text) => first(text) || others.some((test) => test(text));
  return isNegated ? (text) => !any(text) : any;
}

const never: TextTest = () => false;

/** Texts of one kind are searched for together. */
function compileTextTests(tests: readonly FilterTest[], meter: Meter): readonly TextTest[] {
  const groups = new Map<string, { kind: 'contains' | 'equals'; ignoresCase: boolean; texts: string[] }>();
  for (const test of tests) {
    if (test.kind !== 'contains' && test.kind !== 'equals') continue;
    const { kind, ignoresCase, text } = test;
    const key = `${kind} ${ignoresCase}`;
    const known = groups.get(key);
    if (known === undefined) groups.set(key, { kind, ignoresCase, texts: [text] });
    else known.texts.push(text);
  }
  return [...groups.values()].map(({ kind, ignoresCase, texts }) =>
    compileTexts(kind, ignoresCase, texts, meter),
  );
}

function compileOthers(tests: readonly FilterTest[], meter: Meter): readonly TextTest[] {
  return tests.flatMap((test): TextTest | readonly TextTest[] => {
    switch (test.kind) {
      case 'all':
        return () => true;
      case 'not-empty':
        return (text) => text !== '';
      case 'regexp':
        return compilePattern(test.pattern, test.anchored, meter);
      case 'pattern':
        return compilePatternFilter(test.value, meter);
      case 'ip':
        return compileIpFilter(test.value, meter);
      case 'contains':
      case 'equals':
        return [];
    }
  });
}

function compileTexts(
  kind: 'contains' | 'equals',
  ignoresCase: boolean,
  texts: readonly string[],
  meter: Meter,
): TextTest {
  if (ignoresCase) return compileTextsInAnyCase(kind, texts, meter);
  const [only = ''] = texts;
  if (kind === 'equals' && texts.length === 1) return (text) => text === only;
  const test = kind === 'equals' ? equalsOne(texts) : containsOne(texts);
  const cost = kind === 'equals' ? 0 : texts.length === 1 ? textCost : manyTextsCost;
  return (text) => {
    meter.charge(cost * text.length);
    return test(text) === true;
  };
}

/** V8 searches for alternatives of plain texts in time linear in the text. */
function compileTextsInAnyCase(
  kind: 'contains' | 'equals',
  texts: readonly string[],
  meter: Meter,
): TextTest {
  const source = texts.map(anyCasePattern).join('|');
  const compiled = new RegExp(kind === 'equals' ? `^(?:${source})$` : source, 'u');
  const cost = textCost * texts.reduce((sum, { length }) => sum + length, 0);
  // Loki compares the sizes first: letters whose cases differ in size are not equal.
  const sizes = kind === 'equals' ? new Set(texts.map((text) => Buffer.byteLength(text))) : undefined;
  return (text) => {
    meter.charge(cost * text.length);
    return compiled.test(text) && (sizes === undefined || sizes.has(Buffer.byteLength(text)));
  };
}

function compilePattern(pattern: string, anchored: boolean, meter: Meter): TextTest {
  const compiled = compileRegExp(pattern, { anchored });
  return (text) => {
    meter.charge(compiled.testCost * text.length);
    return compiled.test(text);
  };
}

const wildcard = '<_>';

/**
 * Compiles a pattern of `|>`: literal pieces in order, each `<_>` between them matching at least one character. The last piece ends the
 * line, the first may be anywhere. As in Loki, each piece is matched at its first occurrence, without backtracking.
 */
export function compilePatternFilter(pattern: string, meter = new Meter()): LineTest {
  if (pattern === '') return (line) => line === '';
  const pieces = pattern.split(wildcard);
  const last = pieces.length - 1;
  return (line) => {
    if (line === '') return false;
    meter.charge(2 * line.length);
    let offset = 0;
    for (const [index, piece] of pieces.entries()) {
      // An empty piece comes from the start or end, or from adjacent wildcards.
      if (piece === '') {
        if (index === last && last > 0) return offset < line.length;
        continue;
      }
      const at = line.indexOf(piece, offset);
      if (at < 0) return false;
      if (index > 0 && at === offset) return false;
      offset = at + piece.length;
    }
    return offset === line.length;
  };
}

/** Compiles the comparison of a label with a text. */
export function compileLabelTest(filter: StringLabelFilter, meter: Meter): TextTest {
  const test = compileMeaning(labelMeaning(filter), meter);
  return filter.op === '=' || filter.op === '!=' ? test : remember(test);
}

/** Compiles a matcher of a selector, `keep` or `drop`: plain RE2, anchored, `.` matches a line feed. */
export function compileMatcherTest(op: MatchOp, value: string, meter = new Meter()): TextTest {
  switch (op) {
    case '=':
      return (text) => text === value;
    case '!=':
      return (text) => text !== value;
    case '=~':
      return searches(value, meter);
    case '!~': {
      const test = searches(value, meter);
      return (text) => !test(text);
    }
  }
}

function searches(pattern: string, meter: Meter): TextTest {
  const compiled = compileRegExp(pattern, { anchored: true, dotAll: true });
  return remember((text) => {
    meter.charge(compiled.testCost * text.length);
    return compiled.test(text);
  });
}

const remembered = 256;
const longestRemembered = 64;

/** Caches the results for short texts: most labels have few values. */
function remember(test: TextTest): TextTest {
  const answers = new Map<string, boolean>();
  return (text) => {
    if (text.length > longestRemembered) return test(text);
    let answer = answers.get(text);
    if (answer === undefined) {
      answer = test(text);
      if (answers.size >= remembered) answers.clear();
      answers.set(ownText(text), answer);
    }
    return answer;
  };
}

/**
 * For each code point of a lower-case text, the code points that Loki accepts for it. Loki compares the lower case of each with the text,
 * but searches for the beginning by bytes, where it only knows the cases of ASCII. So the Kelvin sign is a k in `ok` but not in `ko`, and a
 * capital letter whose first byte differs from that of the small one never begins a text.
 */
function casesOfText(text: string): readonly (readonly number[])[] {
  return Array.from(text, (char, at) => {
    const code = char.codePointAt(0) ?? 0;
    const cases = loweredTo(code);
    return at > 0 ? cases : cases.filter((one) => firstByte(one) === firstByte(code));
  });
}

/** The first byte of a code point in UTF-8; a capital letter of ASCII counts as the small one. */
function firstByte(code: number): number {
  if (code < 0x80) return code >= 0x41 && code <= 0x5a ? code + 0x20 : code;
  return Buffer.from(String.fromCodePoint(code)).readUInt8(0);
}

/** A pattern of the texts that Loki accepts for this one, with the same meaning in V8 (with the flag `u`) and RE2. */
export function anyCasePattern(text: string): string {
  return casesOfText(text)
    .map((cases) => {
      const chars = cases.map((code) => quotedPattern(String.fromCodePoint(code)));
      return chars.length === 1 ? chars.join('') : `[${chars.join('')}]`;
    })
    .join('');
}

/** A pattern of these texts and no others, for V8 and RE2; it has no group around it. */
export function quotedTexts(texts: readonly string[]): string {
  return texts.map(quotedPattern).join('|');
}

/** A pattern of this text alone, for V8 and RE2. */
export function quotedPattern(text: string): string {
  return text.replace(/[\\.+*?()|[\]{}^$]/g, '\\$&');
}
