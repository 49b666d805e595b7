import type { StringLabelFilter } from '../../../logql/ast.js';
import {
  anyCasePattern,
  type FilterTest,
  labelMeaning,
  type Meaning,
  quotedPattern,
  quotedTexts,
} from '../../../logql/pipeline/filter-test.js';
import { requiredTexts } from '../../../logql/regexp/required.js';
import type { LogsqlFilter } from '../../../victoria/logsql/ast.js';
import {
  and,
  everything,
  exact,
  matcher,
  not,
  nothing,
  oneOf,
  or,
  present,
  regexp,
  streamMatch,
  substring,
} from '../../../victoria/logsql/build.js';
import { severityNumbers, unknownLevel } from '../../../victoria/names/level.js';
import { wordsOfLevel } from '../../../victoria/names/level-words.js';
import { brokenPattern, longDecimalPattern } from '../../../victoria/names/shown-value.js';
import { wholeMatcher } from '../backend-pattern.js';
import { contains, holdsReplacement, textsIn } from './line.js';

/** The texts that a label must equal, or must not equal; undefined for other conditions. */
export function textsOf({ tests }: Meaning): readonly string[] | undefined {
  const texts: string[] = [];
  for (const test of tests) {
    if (test.kind !== 'equals' || test.ignoresCase) return undefined;
    texts.push(test.text);
  }
  return texts;
}

/** Matches rows where a field may have a passing text. The field may belong to the stream, and a row may override its value. */
export function holds(field: string, filter: StringLabelFilter): LogsqlFilter {
  const meaning = labelMeaning(filter);
  // The backend does not find words that contain the replacement character for invalid bytes.
  if (meaning.isNegated || meaning.tests.some(holdsReplacement)) return present(field);
  const texts = textsOf(meaning);
  const changed = changedValues(field, meaning);
  if (texts === undefined) return or(...meaning.tests.map((test) => holdsFor(field, test)), ...changed);
  const [only = ''] = texts;
  if (texts.length === 1) return or(exact(field, only), streamMatch(matcher(field, '=', only)), ...changed);
  const ofStream = streamMatch(wholeMatcher(field, '=~', quotedTexts(texts)));
  return or(oneOf(field, texts), ofStream, ...changed);
}

/** Matches rows where a test may pass for a field of the row or of its stream. */
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

/** Matches rows whose value is shown differently from how it is stored, if that might pass. */
function changedValues(field: string, { tests }: Meaning): readonly LogsqlFilter[] {
  const patterns: string[] = [];
  if (tests.some(mayHoldForDecimal)) patterns.push(longDecimalPattern);
  if (tests.some(mayTellSpace)) patterns.push(brokenPattern);
  return patterns.length === 0 ? [] : [regexp(field, patterns.join('|'))];
}

function mayHoldForDecimal(test: FilterTest): boolean {
  return test.kind === 'equals' ? test.ignoresCase || isDecimal(test.text) : test.kind !== 'not-empty';
}

/** True if a test may distinguish a space from another character: it contains a space, or a pattern contains a character class. */
function mayTellSpace(test: FilterTest): boolean {
  if (test.kind === 'regexp') return /[ \\[]/.test(test.pattern);
  return 'text' in test && test.text.includes(' ');
}

function isDecimal(text: string): boolean {
  return /^-?\d+\.\d+$/.test(text);
}

export const longDecimal = new RegExp(longDecimalPattern);

export function isNot(field: string, texts: readonly string[]): LogsqlFilter {
  // If the stream has the field, its value counts, unless a row overrides it.
  const ofStream: LogsqlFilter = {
    kind: 'stream',
    groups: [[{ kind: 'list', label: field, op: 'in', values: texts }], [matcher(field, '=', '')]],
  };
  return not(and(oneOf(field, texts), ofStream));
}

/** Matches lines from which a passing value may be extracted; undefined if any line may contain one. */
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

/** Minimum length of a search text, since nearly every line contains a given letter. */
const shortest = 2;

/**
 * The longest piece of a text that occurs in a line exactly as in the value: without characters that escapes can spell, and without spaces,
 * which may replace invalid bytes.
 */
function plainPiece(text: string): string | undefined {
  const pieces = text.match(/[^\s"'\\/\ufffd\p{C}]+/gu) ?? [];
  const [longest = ''] = pieces.sort((a, b) => b.length - a.length);
  return longest.length >= shortest ? longest : undefined;
}

// Lines without a recognizable level are unknown, and most lines are info. A search for these levels would scan the whole range for rows
// that are on every page.
const commonLevels: ReadonlySet<string> = new Set([unknownLevel, 'info']);

/** Conditions on rows, at least one of which each row of the requested levels meets. */
export interface LevelConditions {
  /** Matches lines with a word for one of the levels. */
  readonly lines: readonly LogsqlFilter[];
  /** Matches rows where a field that may hold a level holds one of them. The field may belong to the stream, and a row may override its value. */
  readonly holds: (field: string) => LogsqlFilter;
  /** Likewise, for a field that may hold an OTLP severity number. */
  readonly holdsNumber: (field: string) => LogsqlFilter;
}

/** Undefined if any line may have one of the requested levels. */
export function levelConditions(filter: StringLabelFilter): LevelConditions | undefined {
  const meaning = labelMeaning(filter);
  const levels = meaning.isNegated ? undefined : textsOf(meaning);
  if (levels === undefined || levels.some((level) => level === '' || commonLevels.has(level)))
    return undefined;
  const words = levels.map(wordsOfLevel);
  const lines = linesWith(words.flat());
  if (lines === undefined) return undefined;
  // A requested text that is not a level word may be the shown form of a value that is stored differently.
  if (words.some((list) => list.length === 0)) return { lines, holds: present, holdsNumber: present };
  const anyCase = `(?i:${words.flat().join('|')})`;
  const numbers = severityNumbers(levels).join('|');
  return {
    lines,
    holds: (field) => isOneOf(field, anyCase),
    holdsNumber: (field) => (numbers === '' ? nothing : isOneOf(field, `(?:${numbers})`)),
  };
}

/** @param pattern a group */
function isOneOf(field: string, pattern: string): LogsqlFilter {
  return or(regexp(field, `^${pattern}$`), streamMatch(wholeMatcher(field, '=~', pattern)));
}

function linesWith(words: readonly string[]): readonly LogsqlFilter[] | undefined {
  const stems = words.filter((word) => !words.some((other) => other !== word && word.includes(other)));
  if (stems.length === 0) return [];
  const texts = requiredTexts(`(?i)(?:${stems.map(wordPattern).join('|')})`);
  if (texts.length === 0) return undefined;
  return [escapedValue, and(...texts.map((list) => or(...list.map((text) => substring('_msg', text)))))];
}

// In a quoted logfmt value, letters may be escaped.
const escapedValue = and(substring('_msg', '="'), substring('_msg', '\\u00'));

// The dotted capital I counts as an i.
function wordPattern(word: string): string {
  return word.replaceAll('i', '.');
}
