import type { Matcher } from '../../../logql/ast.js';
import type { LogsqlFilter } from '../../../victoria/logsql/ast.js';
import { and, exact, not, nothing, or, regexp } from '../../../victoria/logsql/build.js';
import type { Naming } from '../../../victoria/names/naming.js';
import { serviceNameLabel } from '../../../victoria/names/service-name.js';
import type { LabelFields } from '../label-fields.js';
import { matchesText } from '../matches-text.js';
import { kindOfRule } from './rule.js';

/** A matcher of a stream selector, with the label's name in this naming. */
export interface NamedMatcher {
  readonly name: string;
  readonly matcher: Matcher;
  readonly naming: Naming;
  readonly fields: LabelFields;
}

/** Defines a rule about a matcher of a stream selector. Selectors are never evaluated here, so all of these rules must be exact. */
const selectorRule = kindOfRule<NamedMatcher, LogsqlFilter, [], 'exact'>();

/** The rules about a matcher of a stream selector, in the order in which they are tried. */
export const selectorRules = [
  selectorRule({
    id: 'serviceName',
    construct: '{service_name="v"}',
    backend: '{service_name="v" or service_name="",service="v" or ...}',
    verdict: 'exact',
    reason: 'the label is derived: the first label of the discovery list that a stream has decides',
    example: '{service_name="cart"}',
    match: (named) => (named.name === serviceNameLabel ? named : undefined),
    emit: labelMatch,
  }),
  selectorRule({
    id: 'declaredLabel',
    construct: '{name="v"} on a field of -extra-label-fields or -field-mapping',
    backend: 'field:="v", field:~"^(?:re)$"',
    verdict: 'exact',
    reason:
      'the field may be a column of rows only, which the stream index does not have, unless -stream-fields lists it',
    example: {
      query: '{namespace="shop", org_team="red"}',
      whyHidden: 'only with -extra-label-fields or -field-mapping',
      naming: { extraLabelFields: ['org.team'] },
    },
    match: ({ name, matcher, naming }) => {
      const fields = naming.columnsOf(name);
      return fields.length > 0 ? { matcher, fields } : undefined;
    },
    emit: ({ matcher: { op, value }, fields }) => {
      const filter = labelIs(op === '=' || op === '!=' ? '=' : '=~', value, fields);
      return op === '=' || op === '=~' ? filter : not(filter);
    },
  }),
  selectorRule({
    id: 'streamMatcher',
    construct: '{name="v"}, !=, =~, !~',
    backend: '{name="v"}, for every stored spelling of the name',
    verdict: 'exact',
    reason:
      'both treat missing and empty alike, anchor patterns, and let `.` match line feeds; a name with underscores may be stored with dots or dashes, as the list of stream fields shows',
    example: '{namespace="shop", pod=~"cart-.+"}',
    match: (named) => named,
    emit: labelMatch,
  }),
];

/** Matches rows of the streams whose label passes. */
function labelMatch({ name, matcher: { op, value }, fields }: NamedMatcher): LogsqlFilter {
  return fields.select({ name, op, value });
}

/** The label is the first of the fields that has a value. */
function labelIs(op: '=' | '=~', value: string, fields: readonly string[]): LogsqlFilter {
  const is = (field: string): LogsqlFilter =>
    op === '=' ? exact(field, value) : regexp(field, `^(?:${value})$`);
  const [last, ...before] = [...fields].reverse();
  if (last === undefined) return nothing;
  const matchesEmpty = matchesText({ op, value }, '');
  return before.reduce((rest, field) => {
    const isEmpty = exact(field, '');
    const isHere = matchesEmpty ? and(is(field), not(isEmpty)) : is(field);
    return or(isHere, and(isEmpty, rest));
  }, is(last));
}
