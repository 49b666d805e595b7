import type { Matcher } from '../../../logql/ast.js';
import type { LogsqlFilter } from '../../../victoria/logsql/ast.js';
import { and, exact, not, nothing, or, regexp } from '../../../victoria/logsql/build.js';
import { printFilter } from '../../../victoria/logsql/print.js';
import type { Naming } from '../../../victoria/names/naming.js';
import type { NamesOptions } from '../../../base/options.gen.js';
import { serviceNameLabel } from '../../../victoria/names/service-name.js';
import { matchesText } from '../backend-pattern.js';
import type { LabelFields } from '../columns.js';

/** The precision with which the backend can answer a construct. The planner acts on nothing else. */
export type Verdict =
  /** The same rows: the construct is pushed down, and not evaluated here. */
  | 'exact'
  /** These rows and possibly more: the construct is pushed down to receive fewer rows, and is evaluated here too. */
  | 'superset'
  /** Rows could be lost: the construct is not pushed down, and is evaluated only here. */
  | 'none';

/** The texts about a rule, for the documentation and `explain`. */
export interface RuleText<Id extends string = string> {
  readonly id: Id;
  readonly construct: string;
  /** The backend query, with `"text"` for the text of the LogQL query. */
  readonly backend: string;
  readonly verdict: Verdict;
  readonly reason: string;
  /** A query that matches the rule; docs/pushdown.md shows its translation. */
  readonly example: string | HiddenExample;
}

/** An example that the documentation does not show. */
export interface HiddenExample {
  readonly query: string;
  readonly whyHidden: string;
  readonly naming?: Partial<NamesOptions>;
  readonly pushdown?: 'off';
}

/** The definition of a rule. With the verdict `none` it asks for nothing, and rarely has a backend query to document. */
type Definition<Id extends string, Subject, Asked> =
  | (Omit<RuleText<Id>, 'backend'> & {
      readonly backend?: string;
      readonly verdict: 'none';
      readonly match: (subject: Subject) => boolean;
    })
  | (RuleText<Id> & {
      readonly verdict: 'exact' | 'superset';
      readonly match: (subject: Subject) => Asked | undefined;
    });

/** Matches a part of a query, and says what the backend is asked for it. */
export interface PushdownRule<Subject, Asked, Id extends string = string> extends RuleText<Id> {
  /** Asks the backend for a part that matches; true if there is nothing to ask, and undefined or false for all other parts. */
  readonly match: (subject: Subject) => Asked | boolean | undefined;
}

/** Makes the function that defines rules of one kind, for these subjects and verdicts. */
export function kindOfRule<Subject, Asked, V extends Verdict = Verdict>() {
  return <const Id extends string>(
    definition: Definition<Id, Subject, Asked> & { readonly verdict: V },
  ): PushdownRule<Subject, Asked, Id> & { readonly verdict: V } => ({ backend: '', ...definition });
}

/** The first rule that matches a subject, and what the backend is asked, if anything. */
export function firstRule<Id extends string, Subject, Asked>(
  rules: readonly PushdownRule<Subject, Asked, Id>[],
  subject: Subject,
): { readonly rule: PushdownRule<Subject, Asked, Id>; readonly asked: Asked | undefined } {
  for (const rule of rules) {
    const match = rule.match(subject);
    if (match === true) return { rule, asked: undefined };
    if (match !== undefined && match !== false) return { rule, asked: match };
  }
  throw new Error('no pushdown rule covers a part of the query');
}

const strengths = { none: 0, superset: 1, exact: 2 } as const;

/** The item with the weakest verdict, which is that of the whole; the first one if there are several. */
export function weakest<One extends { readonly verdict: Verdict }>(all: readonly One[]): One {
  return all.reduce((least, one) => (strengths[one.verdict] < strengths[least.verdict] ? one : least));
}

/** The option `-pushdown`; with `off`, the backend only selects streams. */
export type Pushdown = 'on' | 'off';

/** Defines a rule about a query as a whole. */
const settingRule = kindOfRule<Pushdown, never, 'none'>();

export const metricOff = settingRule({
  id: 'metricOff',
  construct: 'any query with -pushdown=off',
  verdict: 'none',
  reason: 'pushdown is off: the backend selects streams, and the proxy evaluates everything else',
  example: {
    query: '{namespace="shop"} |= "timeout"',
    whyHidden: 'any query with -pushdown=off',
    pushdown: 'off',
  },
  match: (pushdown) => pushdown === 'off',
});

/** Defines a rule about the complete backend filter of a log query. */
const filterRule = kindOfRule<LogsqlFilter, never, 'none'>();

/** Maximum number of bytes of a filter's text. */
// The backend's limit is 16384 bytes; the remainder is reserved for the query around the filter.
const maxFilterBytes = 15_000;

export const queryTooLong = filterRule({
  id: 'queryTooLong',
  construct: 'filters that make the backend query longer than 16 KiB',
  verdict: 'none',
  reason: 'the backend refuses longer queries',
  example: {
    query: `{namespace="shop"} |= "${'x'.repeat(maxFilterBytes)}"`,
    whyHidden: 'the query would be longer than 16 KiB',
  },
  match: isTooLong,
});

/** True if the text of a filter is too long. Each node takes at least three bytes with its separator. */
function isTooLong(filter: LogsqlFilter): boolean {
  if (filter.kind === 'and' && filter.parts.length * 3 > maxFilterBytes) return true;
  return Buffer.byteLength(printFilter(filter)) > maxFilterBytes;
}

/** A matcher of a stream selector, with the label's name in this naming. */
export interface NamedMatcher {
  readonly name: string;
  readonly matcher: Matcher;
  readonly naming: Naming;
  readonly fields: LabelFields;
}

/** Defines a rule about a matcher of a stream selector. Selectors are never evaluated here, so all of these rules must be exact. */
const selectorRule = kindOfRule<NamedMatcher, LogsqlFilter, 'exact'>();

/** The rules about a matcher of a stream selector, in the order in which they are tried. */
export const selectorRules = [
  selectorRule({
    id: 'serviceName',
    construct: '{service_name="v"}',
    backend: '{service_name="v" or service_name="",service="v" or ...}',
    verdict: 'exact',
    reason: 'the label is derived: the first label of the discovery list that a stream has decides',
    example: '{service_name="cart"}',
    match: (named) => (named.name === serviceNameLabel ? labelMatch(named) : undefined),
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
    match: ({ name, matcher: { op, value }, naming }) => {
      const fields = naming.columnsOf(name);
      if (fields.length === 0) return undefined;
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
    match: labelMatch,
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
