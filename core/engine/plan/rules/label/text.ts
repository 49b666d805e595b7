import type { StringLabelFilter } from '../../../../logql/ast.js';
import { labelMeaning, type FilterTest, type Meaning } from '../../../../logql/pipeline/filter-meaning.js';
import { anyCasePattern, quotedPattern } from '../../../../logql/pipeline/text-in-any-case.js';
import type { LogsqlFilter } from '../../../../victoria/logsql/ast.js';
import {
  everything,
  exact,
  matcher,
  oneOf,
  or,
  present,
  regexp,
  streamMatch,
  substring,
} from '../../../../victoria/logsql/build.js';
import { brokenPattern, longDecimalPattern } from '../../../../victoria/names/shown-value.js';
import { wholeMatcher } from '../../backend-pattern.js';
import type { KnownNames } from '../../known-names.js';
import { holdsReplacement } from '../line/replacement.js';
import { labelRule, passesMissing, spellings, textOf, textsOf } from './label-rule.js';

export const labelText = labelRule({
  id: 'labelText',
  construct: '| name="v", | name=~"a|b", | name=~"a.*", | name!=""',
  backend: 'name:="v" or {name="v"}, for every stored spelling of the name',
  verdict: 'superset',
  reason:
    'several stored names can mean one; a row may hide the value of its stream; values that are shown otherwise are let through',
  example: '{namespace="shop"} | trace_id="a1b2"',
  match: (placed) => {
    const filter = textOf(placed);
    return filter === undefined || passesMissing(filter) ? undefined : filter;
  },
  emit: storedTexts,
});

/** Rows that may show such a value because it is stored. */
export function storedTexts(filter: StringLabelFilter, names: KnownNames): LogsqlFilter {
  return or(...spellings(filter.name, names).map((field) => holds(field, filter)));
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

/** Whether a test may tell a space from another character: a text with one, or a pattern with one or with a class. */
function mayTellSpace(test: FilterTest): boolean {
  if (test.kind === 'regexp') return /[ \\[]/.test(test.pattern);
  return 'text' in test && test.text.includes(' ');
}

function isDecimal(text: string): boolean {
  return /^-?\d+\.\d+$/.test(text);
}
