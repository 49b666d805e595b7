import type { StringLabelFilter } from '../../../logql/ast.js';
import { labelMeaning, type FilterTest, type Meaning } from '../../../logql/pipeline/filter-meaning.js';
import { anyCasePattern, quotedPattern } from '../../../logql/pipeline/filter-test.js';
import { requiredTexts, type RequiredTexts } from '../../../logql/regexp/required.js';
import type { LogsqlFilter } from '../../../victoria/logsql/ast.js';
import {
  and,
  everything,
  exact,
  matcher,
  not,
  oneOf,
  or,
  present,
  regexp,
  streamMatch,
  substring,
} from '../../../victoria/logsql/build.js';
import { unknownLevel } from '../../../victoria/names/level.js';
import { wordsOfLevel } from '../../../victoria/names/level-words.js';
import { brokenPattern, longDecimalPattern } from '../../../victoria/names/shown-value.js';
import { wholeMatcher } from '../backend-pattern.js';
import { contains, holdsReplacement } from './line.js';

/** The texts of which a label has to be one, or none of them; undefined where something else is asked. */
export function textsOf({ tests }: Meaning): readonly string[] | undefined {
  const texts: string[] = [];
  for (const test of tests) {
    if (test.kind !== 'equals' || test.ignoresCase) return undefined;
    texts.push(test.text);
  }
  return texts;
}

/** Rows where a field may hold a text that passes; the field may belong to the stream, and a row may hide its value. */
export function holds(field: string, filter: StringLabelFilter): LogsqlFilter {
  const meaning = labelMeaning(filter);
  // The backend does not find words with the sign for bytes that are no text.
  if (meaning.isNegated || meaning.tests.some(holdsReplacement)) return present(field);
  const texts = textsOf(meaning);
  const changed = changedValues(field, meaning);
  if (texts === undefined) return or(...meaning.tests.map((test) => holdsFor(field, test)), ...changed);
  const [only = ''] = texts;
  if (texts.length === 1) return or(exact(field, only), streamMatch(matcher(field, '=', only)), ...changed);
  const ofStream = streamMatch(wholeMatcher(field, '=~', texts.map(quotedPattern).join('|')));
  return or(oneOf(field, texts), ofStream, ...changed);
}

/** Rows where a test may hold for a field or for the value of the stream. */
function holdsFor(field: string, test: FilterTest): LogsqlFilter {
  switch (test.kind) {
    case 'equals': {
      const pattern = patternOf(test);
      return or(regexp(field, `^(?:${pattern})$`), streamMatch(wholeMatcher(field, '=~', pattern)));
    }
    case 'contains': {
      const pattern = patternOf(test);
      const inField = test.ignoresCase ? regexp(field, pattern) : substring(field, test.text);
      return or(inField, streamMatch(wholeMatcher(field, '=~', `.*${pattern}.*`)));
    }
    case 'regexp':
      return or(regexp(field, `^(?:${test.pattern})$`), streamMatch(wholeMatcher(field, '=~', test.pattern)));
    case 'not-empty':
      return present(field);
    case 'all':
    case 'pattern':
    case 'ip':
      return everything;
  }
}

function patternOf({ text, ignoresCase }: { readonly text: string; readonly ignoresCase: boolean }): string {
  return ignoresCase ? anyCasePattern(text) : quotedPattern(text);
}

/** Rows whose value is shown otherwise than it is stored, where that might pass. */
function changedValues(field: string, { tests }: Meaning): readonly LogsqlFilter[] {
  const patterns: string[] = [];
  if (tests.some(mayHoldForDecimal)) patterns.push(longDecimalPattern);
  if (tests.some(mayTellSpace)) patterns.push(brokenPattern);
  return patterns.length === 0 ? [] : [regexp(field, patterns.join('|'))];
}

function mayHoldForDecimal(test: FilterTest): boolean {
  return test.kind === 'equals' ? test.ignoresCase || isDecimal(test.text) : test.kind !== 'not-empty';
}

/** True when a test may tell a space from another character: a text with one, or a pattern with one or with a class. */
function mayTellSpace(test: FilterTest): boolean {
  if (test.kind === 'regexp') return /[ \\[]/.test(test.pattern);
  return 'text' in test && test.text.includes(' ');
}

function isDecimal(text: string): boolean {
  return /^-?\d+\.\d+$/.test(text);
}

export const longDecimal = new RegExp(longDecimalPattern);

export function isNot(field: string, texts: readonly string[]): LogsqlFilter {
  // Where the stream has the field, its value counts; a row may show another one over it.
  const ofStream: LogsqlFilter = {
    kind: 'stream',
    groups: [[{ kind: 'list', label: field, op: 'in', values: texts }], [matcher(field, '=', '')]],
  };
  return not(and(oneOf(field, texts), ofStream));
}

/** Lines from which a value that passes may be taken; undefined where it may be any. */
export function linesOf(filter: StringLabelFilter, source: 'keys' | 'pieces'): LogsqlFilter | undefined {
  const { tests, isNegated } = labelMeaning(filter);
  const lines = isNegated ? [] : tests.flatMap((test) => linesOfTest(test) ?? []);
  if (!isNegated && lines.length === tests.length) return or(...lines);
  const parts = filter.name.split('_').flatMap((part) => plainPiece(part) ?? []);
  return source === 'keys' && parts.length > 0 ? and(...parts.map(contains)) : undefined;
}

function linesOfTest(test: FilterTest): LogsqlFilter | undefined {
  const lists = textsIn(test).flatMap((texts) => {
    const pieces = texts.flatMap((text) => plainPiece(text) ?? []);
    return pieces.length < texts.length ? [] : [or(...pieces.map(contains))];
  });
  return lists.length === 0 ? undefined : and(...lists);
}

/** Texts that every value that passes a test holds: of each list at least one. */
function textsIn(test: FilterTest): readonly RequiredTexts[] {
  switch (test.kind) {
    case 'contains':
    case 'equals':
      return test.ignoresCase ? requiredTexts(anyCasePattern(test.text)) : [[test.text]];
    case 'regexp':
      return requiredTexts(test.pattern);
    case 'all':
    case 'not-empty':
    case 'pattern':
    case 'ip':
      return [];
  }
}

/** A single letter is in nearly every line. */
const shortest = 2;

/**
 * The longest piece of a text that stands in a line as it does in the value: without signs that escapes spell, and without spaces, which
 * stand for bytes that are no text.
 */
function plainPiece(text: string): string | undefined {
  const pieces = text.match(/[^\s"'\\/\ufffd\p{C}]+/gu) ?? [];
  const [longest = ''] = pieces.sort((a, b) => b.length - a.length);
  return longest.length >= shortest ? longest : undefined;
}

// A line whose level nothing shows is unknown, and most lines are info: a search for these would scan the whole range for rows that are on
// any page.
const commonLevels: ReadonlySet<string> = new Set([unknownLevel, 'info']);

/** Lines with a word that means one of the levels asked for; undefined where any line may. */
export function levelLines(filter: StringLabelFilter): readonly LogsqlFilter[] | undefined {
  const meaning = labelMeaning(filter);
  const levels = meaning.isNegated ? undefined : textsOf(meaning);
  if (levels === undefined || levels.some((level) => level === '' || commonLevels.has(level)))
    return undefined;
  const words = [...new Set(levels)].flatMap(wordsOfLevel);
  const stems = words.filter((word) => !words.some((other) => other !== word && word.includes(other)));
  if (stems.length === 0) return [];
  const texts = requiredTexts(`(?i)(?:${stems.map(wordPattern).join('|')})`);
  if (texts.length === 0) return undefined;
  return [escapedValue, and(...texts.map((list) => or(...list.map((text) => substring('_msg', text)))))];
}

// In a quoted value of logfmt, letters may be written with escapes.
const escapedValue = and(substring('_msg', '="'), substring('_msg', '\\u00'));

// The dotted I counts as an i.
function wordPattern(word: string): string {
  return word.replaceAll('i', '.');
}
