import type { LabelFilter, StringLabelFilter } from '../../../logql/ast.js';
import { compileMeaning, labelMeaning } from '../../../logql/pipeline/filter-test.js';
import { textOfIPv4 } from '../../../logql/pipeline/ip-matcher.js';
import type { LabelComparison, OrderedComparison } from '../../../logql/pipeline/label-comparison.js';
import { Meter } from '../../../logql/pipeline/work-line.js';
import { isDeeperThan } from '../../../logql/walk.js';
import type { LogsqlFilter } from '../../../victoria/logsql/ast.js';
import { and, not, or, present, regexp } from '../../../victoria/logsql/build.js';
import { levelNames } from '../../../victoria/names/level-words.js';
import { detectedLevelName } from '../../../victoria/names/level.js';
import type { Naming } from '../../../victoria/names/naming.js';
import { mayBeFilledIn } from '../../../victoria/names/otlp-fill.js';
import { serviceNameLabel } from '../../../victoria/names/service-name.js';
import { isBroken } from '../../../victoria/names/shown-value.js';
import type { KnownNames } from '../../../victoria/names/name-learner.js';
import { missingLineRows } from '../missing-lines.js';
import { mayPass, valuePattern } from './label-number.js';
import { holds, isNot, levelConditions, linesOf, longDecimal, textsOf } from './label-text.js';
import { contains } from './line.js';
import { kindOfRule } from './rule.js';

/** A comparison of a label, with the effects of the stages before it. */
export interface PlacedComparison {
  readonly comparison: LabelComparison;
  readonly scope: LabelScope;
  /** True if an earlier stage or comparison may have marked the row with an error. */
  readonly mayHaveFailed: boolean;
}

export interface LabelScope {
  /** True while a name still refers to what the backend stored under it. */
  isStored(name: string): boolean;
  /**
   * The part of the stored line that a label which is not stored was made from: the text after keys of that name, or any piece, verbatim or
   * unescaped. Undefined if it may have another source.
   */
  sourceInLine(name: string): 'keys' | 'pieces' | undefined;
  /** True if only `| json` made labels from the stored line. */
  readonly isParsedAsJson: boolean;
  readonly naming: Naming;
}

/** Makes the filter for rows with these stored names; undefined where they leave nothing to ask for. */
type OfNames = (names: KnownNames) => LogsqlFilter | undefined;

/**
 * Defines a rule about a comparison of a label. What is asked depends on the stored names. A superset may stand under AND and OR, and never
 * under NOT; label filters are evaluated here, too, so none is exact.
 */
const labelRule = kindOfRule<PlacedComparison, OfNames, 'superset' | 'none'>();

// Of all escapes in JSON and logfmt, only this one can spell the text that is searched for here.
const escaped = contains('\\u');

/** The rules about one comparison of a label, in the order in which they are tried; the first match decides. */
export const labelRules = [
  labelRule({
    id: 'labelInLine',
    construct:
      '| name="v", | name=~"a|b", | name=~"a.*", | name!="" after | json, | logfmt, | regexp or | pattern',
    backend: '(_msg:*"v"* or _msg:*"\\u"* or name:="v" or {name="v"} ...)',
    verdict: 'superset',
    reason:
      'an extracted value is a substring of its line, unless it is written with escapes, and so is the key that `| json` or `| logfmt` turns into a label name; for a row without a line, `| json` reads its fields; the label may also be stored',
    example: '{namespace="shop"} | json | user="admin"',
    match: (placed) => {
      const filter = textComparison(placed);
      if (filter === undefined || isDerived(filter.name) || passesMissing(filter)) return undefined;
      const { scope } = placed;
      const source = scope.isStored(filter.name) ? undefined : scope.sourceInLine(filter.name);
      const lines = source === undefined ? undefined : linesOf(filter, source);
      return lines && inLineOrField(lines, placed, (field) => holds(field, filter));
    },
  }),
  labelRule({
    id: 'labelNumberInLine',
    construct: '| name > 10, | name > 1s, | name > 1KB after | json or | logfmt',
    backend:
      '(_msg:~"name(\\":|=)(prefixes of values that may pass)" or _msg:*"\\u"* or name:* !(name:<=10 ...))',
    verdict: 'superset',
    reason:
      'an extracted value follows its key in the line, unless it is written with escapes, and a row without the label is dropped; values that cannot be compared are kept and marked with an error; for a row without a line, `| json` reads its fields; the label may also be stored',
    example: '{namespace="shop"} | json | status >= 500',
    match: (placed) => {
      const comparison = orderedComparison(placed);
      if (comparison === undefined) return undefined;
      const { scope } = placed;
      const { name } = comparison;
      if (isDerived(name) || scope.isStored(name) || scope.sourceInLine(name) !== 'keys') return undefined;
      // Other characters of a key become underscores, as do the borders of objects.
      const key = name.slice(name.lastIndexOf('_') + 1);
      const value = valuePattern(comparison);
      if (key === '' || value === undefined) return undefined;
      const lines = regexp('_msg', `${key}${value}`);
      return inLineOrField(lines, placed, (field) => mayPass(field, comparison));
    },
  }),
  labelRule({
    id: 'labelAddressInLine',
    construct:
      '| name = ip("10.1.0.0/16") after | regexp or | pattern, if all addresses begin with the same numbers',
    backend: '(_msg:*"10.1."* or _msg:*"\\u"* or name:* or {name!=""} ...)',
    verdict: 'superset',
    reason:
      'an extracted value is a substring of its line, unless it is written with escapes; the label may also be stored; the proxy compares networks',
    example: '{namespace="shop"} | pattern "<client> <_>" | client=ip("10.1.0.0/16")',
    match: (placed) => {
      const { comparison, scope, mayHaveFailed } = placed;
      const { kind, name, op } = comparison;
      if (kind !== 'ip' || op !== '=' || mayHaveFailed) return undefined;
      if (isDerived(name) || scope.isStored(name)) return undefined;
      const text = scope.sourceInLine(name) === undefined ? undefined : textOfIPv4(comparison.value);
      return text === undefined ? undefined : inLineOrField(contains(text), placed, present);
    },
  }),
  labelRule({
    id: 'labelParsed',
    construct:
      '| name!="v" after a stage that can create, change or drop the label, and number filters after such a stage other than | json and | logfmt',
    verdict: 'none',
    reason: 'the value differs from the stored value',
    example: '{namespace="shop"} | json | user!="admin"',
    match: ({ comparison, scope }) => !scope.isStored(comparison.name),
  }),
  labelRule({
    id: 'labelLevel',
    construct: '| detected_level="error", | detected_level=~"warn|error"',
    backend: '(level:~"^(?i:error|err)$" or ... all names ... or _msg:*"err"* or ... all cases ...)',
    verdict: 'superset',
    reason:
      'a level detected in a line is a word of that line, and any field of a rebuilt line may contain the word; info and unknown are filtered in the proxy, because they are common',
    example: '{namespace="shop"} | detected_level="error"',
    match: (placed) => {
      const filter = textComparison(placed);
      const conditions = filter?.name === detectedLevelName ? levelConditions(filter) : undefined;
      if (conditions === undefined) return undefined;
      const { lines, holds, holdsNumber } = conditions;
      return (names) => {
        const named = [...levelNames, detectedLevelName].map((name) => rowsWith(name, names, holds));
        const numbered = rowsWith('severity_number', names, holdsNumber);
        return or(...named, numbered, ...lines, missingLineRows(placed.scope.naming));
      };
    },
  }),
  labelRule({
    id: 'labelDerived',
    construct: '| service_name="v", | detected_level="info", | name_extracted="v", | __error__="v"',
    verdict: 'none',
    reason: 'the proxy computes the value',
    example: '{namespace="shop"} | detected_level="info"',
    match: ({ comparison }) => isDerived(comparison.name),
  }),
  labelRule({
    id: 'labelAfterError',
    construct: '| name = ip("10.0.0.0/8") after a stage that may fail',
    verdict: 'none',
    reason: 'rows with an error pass address filters',
    example: '{namespace="shop"} | json took="took" | client=ip("10.0.0.0/8")',
    match: ({ comparison, mayHaveFailed }) => comparison.kind === 'ip' && mayHaveFailed,
  }),
  labelRule({
    id: 'labelAddress',
    construct: '| name = ip("10.0.0.0/8")',
    backend: 'name:*',
    verdict: 'superset',
    reason: 'a row without the label is dropped; the proxy compares networks',
    example: '{namespace="shop"} | client=ip("10.0.0.0/8")',
    match: ({ comparison: { kind, name } }) => (kind === 'ip' ? inField(name, present) : undefined),
  }),
  labelRule({
    id: 'labelNumber',
    construct: '| name > 10, | name > 1s, | name > 1KB',
    backend: 'name:* !(name:<=10 name:~"plain number")',
    verdict: 'superset',
    reason:
      'a row without the label is dropped; a value that is not a plain number is kept and marked with an error',
    example: '{namespace="shop"} | status_code >= 500',
    match: (placed) => {
      const comparison = orderedComparison(placed);
      return comparison && inField(comparison.name, (field) => mayPass(field, comparison));
    },
  }),
  labelRule({
    id: 'labelText',
    construct: '| name="v", | name=~"a|b", | name=~"a.*", | name!=""',
    backend: 'name:="v" or {name="v"}, for every stored spelling of the name',
    verdict: 'superset',
    reason:
      'several stored names can have the same label name; a row may hide the value of its stream; values that are shown differently are kept',
    example: '{namespace="shop"} | trace_id="a1b2"',
    match: (placed) => {
      const filter = textComparison(placed);
      if (filter === undefined || passesMissing(filter)) return undefined;
      return inField(filter.name, (field) => holds(field, filter));
    },
  }),
  labelRule({
    id: 'labelFilledIn',
    construct: '| severity_text!="v" and other negated filters on fields that the backend fills in',
    verdict: 'none',
    reason: 'clients see a filled-in value as missing',
    example: '{namespace="shop"} | severity_text!="Info"',
    match: (placed) => {
      const filter = textComparison(placed);
      return filter !== undefined && passesMissing(filter) && mayBeFilledIn(filter.name);
    },
  }),
  labelRule({
    id: 'labelMissing',
    construct: '| name=""',
    backend: '!name:*, for every stored spelling of the name',
    verdict: 'superset',
    reason: 'both treat missing and empty alike; fields of rows without a line are not labels',
    example: '{namespace="shop"} | user=""',
    match: (placed) => {
      const filter = textComparison(placed);
      if (filter?.op !== '=' || filter.value !== '') return undefined;
      return (names) => {
        const fields = sureFields(filter.name, names);
        if (fields === undefined || fields.length === 0) return undefined;
        return or(and(...fields.map((field) => not(present(field)))), missingLineRows(placed.scope.naming));
      };
    },
  }),
  labelRule({
    id: 'labelNot',
    construct: '| name!="v", | name!~"a|b"',
    backend: '!(name:in("v") {name="v" or name=""})',
    verdict: 'superset',
    reason:
      'correct if the label has only one possible stored field, and for rows with a line: fields of other rows are not labels',
    example: '{namespace="shop"} | user!="admin"',
    match: (placed) => {
      const filter = textComparison(placed);
      if (filter === undefined) return undefined;
      const meaning = labelMeaning(filter);
      const texts = meaning.isNegated ? textsOf(meaning) : undefined;
      if (texts === undefined || texts.some((text) => isBroken(text) || longDecimal.test(text)))
        return undefined;
      return (names) => {
        const [field, another] = names.fieldsOf(filter.name);
        const isCertain = another === undefined && (sureFields(filter.name, names) ?? []).length > 0;
        if (!isCertain || field === undefined) return undefined;
        return or(isNot(field, texts), missingLineRows(placed.scope.naming));
      };
    },
  }),
  labelRule({
    id: 'labelNegated',
    construct: '| name!="v" with several stored spellings, | name!~"re", | name=~"re|"',
    verdict: 'none',
    reason: 'the visible field, or the remaining matches of the pattern, are decided per row',
    example: '{namespace="shop"} | user!~"adm.*"',
    match: (placed) => textComparison(placed) !== undefined,
  }),
];

/** Defines a rule about a label filter as a whole. */
const labelTreeRule = kindOfRule<LabelFilter, never, 'none'>();

const deepest = 50;

export const labelDeep = labelTreeRule({
  id: 'labelDeep',
  construct: 'label filters nested deeper than 50 levels',
  verdict: 'none',
  reason: 'the backend query would become too large',
  example: {
    query: `{namespace="shop"} | ${Array<string>(deepest + 1)
      .fill('a="b"')
      .join(' and ')}`,
    whyHidden: 'the query would have more than 50 levels',
  },
  match: (filter) => isDeeperThan(filter, deepest),
});

/** The comparison, if it compares texts. */
export function textComparison({ comparison }: PlacedComparison): StringLabelFilter | undefined {
  return comparison.kind === 'string' ? comparison : undefined;
}

/** The comparison, if it compares numbers, durations or sizes. */
function orderedComparison({ comparison }: PlacedComparison): OrderedComparison | undefined {
  return comparison.kind === 'string' || comparison.kind === 'ip' ? undefined : comparison;
}

/** True if rows without the label pass. */
function passesMissing(filter: StringLabelFilter): boolean {
  return compileMeaning(labelMeaning(filter), new Meter())('');
}

/** True if labels of this name are derived by the proxy, regardless of what is stored under the name. */
export function isDerived(name: string): boolean {
  return (
    name === serviceNameLabel ||
    name === detectedLevelName ||
    name.startsWith('_') ||
    name.endsWith('_extracted')
  );
}

/** All stored fields that a row may show under this name; the name itself if none is known. */
export function spellings(name: string, names: KnownNames): readonly string[] {
  return [...new Set([name, ...names.fieldsOf(name)])];
}

/** Matches rows where a field passes that may have this name. A name under which nothing is known to be stored takes little of the query. */
function rowsWith(name: string, names: KnownNames, passes: (field: string) => LogsqlFilter): LogsqlFilter {
  const fields = names.fieldsOf(name);
  return fields.length === 0 ? present(name) : or(...spellings(name, names).map(passes));
}

/**
 * The fields that every row shows under this name, since a field that only some rows show proves nothing about the others. Undefined if the
 * backend may have filled one of them in, which is shown as missing.
 */
function sureFields(name: string, names: KnownNames): readonly string[] | undefined {
  const fields = names.sureFieldsOf(name);
  return fields.some(mayBeFilledIn) ? undefined : fields;
}

/** Matches rows where a field passes under which the label is stored. */
function inField(name: string, passes: (field: string) => LogsqlFilter): OfNames {
  return (names) => or(...spellings(name, names).map(passes));
}

/**
 * Matches rows with lines like these, and those whose value of a label does not come from a stored line: a field may be the label, or the
 * key from which `| json` makes the label in a rebuilt line. Other parsers may find more in such a line.
 * @param passes rows where a field may pass
 */
function inLineOrField(
  lines: LogsqlFilter,
  { comparison: { name }, scope }: PlacedComparison,
  passes: (field: string) => LogsqlFilter,
): OfNames {
  const others = scope.isParsedAsJson ? [] : [missingLineRows(scope.naming)];
  return (names) => {
    const parsed = scope.isParsedAsJson ? names.parsedFieldsOf(name) : [];
    const fields = new Set([...spellings(name, names), ...parsed]);
    return or(lines, escaped, ...others, ...[...fields].map(passes));
  };
}
