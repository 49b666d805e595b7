import { anyCasePattern, type FilterTest } from '../../../logql/pipeline/filter-test.js';
import { textOfIPv4 } from '../../../logql/pipeline/ip-matcher.js';
import { compileRegExp } from '../../../logql/regexp/index.js';
import { requiredTexts, type RequiredTexts } from '../../../logql/regexp/required.js';
import type { LogsqlFilter } from '../../../victoria/logsql/ast.js';
import { and, everything, or, present, regexp, substring } from '../../../victoria/logsql/build.js';
import { wholeLinePattern } from '../backend-pattern.js';
import { kindOfRule, type RuleText } from './rule.js';

/** One of the alternative tests of a line filter on the stored line. */
export interface LineTerm {
  readonly test: FilterTest;
  /** True if lines pass for which no test matches. */
  readonly isNegated: boolean;
}

/** Defines a rule about a test of a line filter. For a negated filter, what it asks for is negated around it. */
const lineRule = kindOfRule<LineTerm, LogsqlFilter>();

const lineField = '_msg';

/** The rules about one test of a line filter, in the order in which they are tried; the first match decides. */
export const lineRules = [
  lineRule({
    id: 'lineAddress',
    construct:
      '|= ip("10.0.0.1"), |= ip("10.1.0.0/16") and others whose addresses begin with the same numbers',
    backend: '_msg:*"10.0.0.1"*, _msg:*"10.1."*',
    verdict: 'superset',
    reason: 'the text may be part of a longer number, and the other numbers of the address are not compared',
    example: '{namespace="shop"} |= ip("10.1.0.0/16")',
    match: ({ test, isNegated }) => {
      const text = test.kind === 'ip' && !isNegated ? textOfIPv4(test.value) : undefined;
      return text === undefined ? undefined : contains(text);
    },
  }),
  lineRule({
    id: 'lineNetwork',
    construct: '|= ip("2001:db8::/32"), != ip(...)',
    verdict: 'none',
    reason: 'the backend compares whole values only',
    example: '{namespace="shop"} |= ip("2001:db8::/32")',
    match: ({ test }) => test.kind === 'ip',
  }),
  lineRule({
    id: 'lineReplacementNot',
    construct: '!=, !~ or !> with U+FFFD in the text',
    verdict: 'none',
    reason: 'the backend does not find words with this character, so the negation would keep them',
    example: '{namespace="shop"} != "au caf\ufffd lait"',
    match: ({ test, isNegated }) => isNegated && holdsReplacement(test),
  }),
  lineRule({
    id: 'lineReplacement',
    construct: '|=, |~ or |> with U+FFFD in the text',
    backend: '_msg:*"text"*',
    verdict: 'superset',
    reason:
      'the backend does not find words in which this character replaces invalid bytes, so it searches for the text around it',
    example: '{namespace="shop"} |= "au caf\ufffd lait"',
    match: ({ test }) => (holdsReplacement(test) ? around(test) : undefined),
  }),
  lineRule({
    id: 'lineContains',
    construct: '|= "text", != "text", |~ "a|b" and other patterns that Loki replaces by a text search',
    backend: '_msg:*"text"*',
    verdict: 'exact',
    reason: 'both search for a byte substring',
    example: '{namespace="shop"} |= "timeout"',
    match: ({ test }) => {
      if (test.kind === 'all') return everything;
      return test.kind === 'contains' && !test.ignoresCase ? contains(test.text) : undefined;
    },
  }),
  lineRule({
    id: 'linePatternNot',
    construct: '!> "a <_> b"',
    verdict: 'none',
    reason: 'the negation of a superset would lose lines',
    example: '{namespace="shop"} !> "<_> took <_>ms"',
    match: ({ test, isNegated }) => test.kind === 'pattern' && isNegated,
  }),
  lineRule({
    id: 'linePattern',
    construct: '|> "a <_> b"',
    backend: '_msg:*"a "* _msg:*" b"*',
    verdict: 'superset',
    reason: 'the proxy checks order, anchors and wildcards of at least one character',
    example: '{namespace="shop"} |> "<_> took <_>ms"',
    match: ({ test }) =>
      test.kind === 'pattern' ? and(...test.value.split('<_>').map(contains)) : undefined,
  }),
  lineRule({
    id: 'lineAnyCase',
    construct:
      '|~ "(?i)text", !~ "(?i)text" and other patterns that Loki replaces by a case-insensitive text search',
    backend: '_msg:~"[tT][eE][xX][tT]"',
    verdict: 'exact',
    reason:
      'Loki compares letters in lower case, with fewer variants for the first letter than for the others, so the pattern lists all variants of each letter',
    example: '{namespace="shop"} |~ "(?i)disk full"',
    match: ({ test }) =>
      test.kind === 'contains' && test.ignoresCase ? matches(anyCasePattern(test.text)) : undefined,
  }),
  lineRule({
    id: 'lineNotEmpty',
    construct: '|~ ".+", !~ ".+"',
    backend: '_msg:*',
    verdict: 'exact',
    reason: 'Loki only checks that the line has a character, even if it is a line feed',
    example: '{namespace="shop"} |~ ".+"',
    match: ({ test }) => (test.kind === 'not-empty' ? present(lineField) : undefined),
  }),
  lineRule({
    id: 'lineRegexpAll',
    construct: '|~ "re" that matches the empty text',
    verdict: 'none',
    reason: 'the backend does not evaluate a pattern that matches the empty text, and keeps every line',
    example: '{namespace="shop"} |~ "x*"',
    match: (term) => {
      const pattern = regexpOf(term);
      return pattern !== undefined && compileRegExp(pattern).test('');
    },
  }),
  lineRule({
    id: 'lineRegexpDotsNot',
    construct: '!~ "re" with dots of both kinds, as in `\\s|.`',
    verdict: 'none',
    reason: 'the backend treats some of the dots as the other kind, so the negation would lose lines',
    example: '{namespace="shop"} !~ "(?:\\\\s|.)took"',
    match: (term) => {
      const pattern = regexpOf(term);
      return term.isNegated && pattern !== undefined && backendPattern(pattern) === undefined;
    },
  }),
  lineRule({
    id: 'lineRegexpDots',
    construct: '|~ "re" with dots of both kinds, as in `\\s|.`',
    backend: '_msg:*"text"*',
    verdict: 'superset',
    reason: 'the backend treats some of the dots as the other kind, which matters for lines with line feeds',
    example: '{namespace="shop"} |~ "(?:\\\\s|.)took"',
    match: (term) => {
      const pattern = regexpOf(term);
      if (pattern === undefined || backendPattern(pattern) !== undefined) return undefined;
      return and(...containsTextsOf(pattern));
    },
  }),
  lineRule({
    id: 'lineRegexp',
    construct: '|~ "re", !~ "re"',
    backend: '_msg:*"text"* _msg:~"(?-s)re"',
    verdict: 'exact',
    reason:
      'the same syntax, once `.` does not match line feeds; if `\\b` or `^` refers back to literal text before it, the pattern gets the prefix `(?:\\b|\\B)`, because the backend evaluates it after that text; texts that every match contains (in all cases, under (?i)) come first, because the backend finds them many times faster',
    example: '{namespace="shop"} |~ "took [0-9]{4,}ms"',
    match: (term) => {
      const pattern = regexpOf(term);
      return pattern === undefined ? undefined : matches(pattern);
    },
  }),
];

/** The decision about one test of a line filter. */
export interface DecidedTerm {
  readonly rule: RuleText;
  readonly filter: LogsqlFilter;
}

/** Defines a rule about the alternatives of a line filter as a whole. */
const alternativesRule = kindOfRule<readonly DecidedTerm[], LogsqlFilter>();

export const lineMixed = alternativesRule({
  id: 'lineMixed',
  construct: 'alternatives of several kinds',
  backend: 'the alternatives joined by or',
  verdict: 'exact',
  reason: 'the backend query joins the alternatives with or; the least exact alternative decides the verdict',
  example: '{namespace="shop"} |~ "timeout" or "took [0-9]+s"',
  match: (terms) => (terms.some(({ rule }) => rule !== terms[0]?.rule) ? anyOf(terms) : undefined),
});

/** Matches lines that pass one of the alternatives. */
export function anyOf(terms: readonly DecidedTerm[]): LogsqlFilter {
  return or(...terms.map(({ filter }) => filter));
}

/** Matches lines that contain the text. */
export function contains(text: string): LogsqlFilter {
  return text === '' ? everything : substring(lineField, text);
}

/** For each text that all matches of the pattern contain, a filter for the lines that contain it in any case. */
function containsTextsOf(pattern: string): readonly LogsqlFilter[] {
  return requiredTexts(pattern).map((list) => or(...list.map(contains)));
}

/** The pattern of the test, if it is a pattern. */
function regexpOf({ test }: LineTerm): string | undefined {
  return test.kind === 'regexp' ? test.pattern : undefined;
}

/** Matches lines with the texts around the replacement character for invalid bytes. */
function around(test: FilterTest): LogsqlFilter {
  if (test.kind === 'pattern') return and(...test.value.split(/\ufffd|<_>/).map(contains));
  const texts = textsIn(test).map((list) => list.map((text) => and(...text.split('\ufffd').map(contains))));
  return and(...texts.map((list) => or(...list)));
}

/** Texts that every text that passes contains: at least one of each list. */
export function textsIn(test: FilterTest): readonly RequiredTexts[] {
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

/** True if a test contains the replacement character for invalid bytes, literally or in pattern syntax. */
export function holdsReplacement(test: FilterTest): boolean {
  if ('pattern' in test) return /\ufffd|\\x\{0*fffd\}/i.test(test.pattern);
  if ('value' in test) return test.value.includes('\ufffd');
  return 'text' in test && test.text.includes('\ufffd');
}

/** The form of a pattern that the backend evaluates like Loki; undefined if it would mix up the two kinds of dots. */
function backendPattern(pattern: string): string | undefined {
  return wholeLinePattern(withoutDotAll(pattern));
}

/**
 * Matches lines by pattern; undefined if the backend cannot. Most patterns are slow there, while searching for the texts that all matches
 * contain costs next to nothing.
 */
function matches(pattern: string): LogsqlFilter | undefined {
  const whole = backendPattern(pattern);
  return whole === undefined ? undefined : and(...containsTextsOf(pattern), regexp(lineField, whole));
}

/** Makes `.` not match line feeds, unless the pattern sets a flag for that; flags at its start are merged. */
function withoutDotAll(pattern: string): string {
  const flags = /^\(\?([a-zA-Z]*)(?:-([a-zA-Z]*))?\)/.exec(pattern);
  if (flags === null) return `(?-s)${pattern}`;
  const [whole, on = '', off = ''] = flags;
  if (on.includes('s') || off.includes('s')) return pattern;
  return `(?${on}-${off}s)${pattern.slice(whole.length)}`;
}
