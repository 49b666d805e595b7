import type { StringLabelFilter } from '../../../../logql/ast.js';
import { labelMeaning, type FilterTest } from '../../../../logql/pipeline/filter-meaning.js';
import { anyCasePattern } from '../../../../logql/pipeline/text-in-any-case.js';
import { requiredTexts, type RequiredTexts } from '../../../../logql/regexp/required.js';
import type { LogsqlFilter } from '../../../../victoria/logsql/ast.js';
import { and, or } from '../../../../victoria/logsql/build.js';
import { contains } from '../line/line-rule.js';
import { isDerived, labelRule, passesMissing, rowsWithField, textOf } from './label-rule.js';
import { holds } from './text.js';

export const labelInLine = labelRule({
  id: 'labelInLine',
  construct:
    '| name="v", | name=~"a|b", | name=~"a.*", | name!="" behind | json, | logfmt, | regexp or | pattern',
  backend: '(_msg:*"v"* or _msg:*"\\u"* or name:="v" or {name="v"} ...)',
  verdict: 'superset',
  reason:
    'a value that is taken from a line stands in it, unless it is spelled with escapes; so does the key that `| json` and `| logfmt` make a name of; of a row without a line `| json` reads the fields; the label may be stored, too',
  example: '{namespace="shop"} | json | user="admin"',
  match: (placed) => {
    const filter = textOf(placed);
    if (filter === undefined || isDerived(filter.name) || passesMissing(filter)) return undefined;
    const { scope } = placed;
    const source = scope.isStored(filter.name) ? undefined : scope.sourceInLine(filter.name);
    const lines = source === undefined ? undefined : linesOf(filter, source);
    if (lines === undefined) return undefined;
    return { filter, placed, lines: or(lines, escaped) };
  },
  emit: ({ filter, placed, lines }, names) =>
    or(
      lines,
      rowsWithField(placed, names, (field) => holds(field, filter)),
    ),
});

// Of all escapes of JSON and logfmt only this one can stand for what is searched for here.
export const escaped = contains('\\u');

/** Lines from which a value that passes may be taken; undefined where it may be any. */
function linesOf(filter: StringLabelFilter, source: 'keys' | 'pieces'): LogsqlFilter | undefined {
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
