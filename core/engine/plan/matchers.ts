import type { Selector } from '../../wire/api/query.js';
import type { Matcher, Stage } from '../../logql/ast.js';
import { requireNonEmptyMatcher } from '../../logql/index.js';
import type { LogsqlFilter, StreamMatcher } from '../../victoria/logsql/ast.js';
import { and, everything, exact, not, nothing, regexp } from '../../victoria/logsql/build.js';
import type { Naming } from '../../victoria/names/naming.js';
import { serviceNameLabel, unknownService } from '../../victoria/names/service-name.js';
import { doAll, type Steps } from '../../base/pace/steps.js';
import { compileRegExp } from '../../logql/regexp/index.js';
import { wholeMatcher } from './backend-pattern.js';
import type { RuleId } from './rules/table.js';

/** The rule that was applied to a part of the query. */
export interface Decision {
  readonly rule: RuleId;
  readonly part: Matcher | Stage;
}

/** Matchers that are planned in one step. */
const stepMatchers = 100;

/** The rows that matchers select, and why. */
export interface PlannedMatchers {
  readonly filter: LogsqlFilter;
  readonly decisions: readonly Decision[];
}

/** The rows of the streams that all matchers select. */
export function planMatchers(matchers: readonly Matcher[], naming: Naming): PlannedMatchers {
  return doAll(matcherSteps(matchers, naming));
}

/** The same bit by bit, for selectors that are long. */
export function* matcherSteps(matchers: readonly Matcher[], naming: Naming): Steps<PlannedMatchers> {
  const plain: StreamMatcher[] = [];
  const filters: LogsqlFilter[] = [];
  const decisions: Decision[] = [];
  for (const [index, matcher] of matchers.entries()) {
    if ((index + 1) % stepMatchers === 0) yield;
    const name = naming.selectorName(matcher.name);
    const fields = naming.fieldsOf(name);
    const extra = naming.extraLabels.get(name);
    if (extra !== undefined && naming.labelOf(extra) !== name) {
      decisions.push({ rule: 'extraLabel', part: matcher });
      filters.push(extraFilter(matcher, extra));
    } else if (name === serviceNameLabel) {
      decisions.push({ rule: 'serviceName', part: matcher });
      filters.push(serviceFilter(matcher, naming.serviceFields()));
    } else if (fields.length === 0) {
      decisions.push({ rule: 'noSuchLabel', part: matcher });
      filters.push(matchesText(matcher, '') ? everything : nothing);
    } else {
      decisions.push({ rule: 'streamMatcher', part: matcher });
      const each = fields.map((field) => wholeMatcher(field, matcher.op, matcher.value));
      // At most one of the stored spellings has a value; where the empty one matches, all the others must match too.
      if (each.length === 1 || matchesText(matcher, '')) plain.push(...each);
      else filters.push({ kind: 'stream', groups: each.map((one) => [one]) });
    }
  }
  const first: readonly LogsqlFilter[] = plain.length === 0 ? [] : [{ kind: 'stream', groups: [plain] }];
  return { filter: and(...first, ...filters), decisions };
}

/** A field that was declared a label is a column of rows; pattern and missing value mean the same as in a stream selector. */
function extraFilter({ op, value }: Matcher, name: string): LogsqlFilter {
  const filter = op === '=' || op === '!=' ? exact(name, value) : regexp(name, `^(?:${value})$`);
  return op === '=' || op === '=~' ? filter : not(filter);
}

/** The rows of a bare selector: one that is given must select something, none selects everything. */
export function selectorFilter(selector: Selector | undefined, naming: Naming): LogsqlFilter {
  if (selector === undefined) return everything;
  requireNonEmptyMatcher(selector.matchers);
  return planMatchers(selector.matchers, naming).filter;
}

/** Tells whether a matcher holds for a value. */
export function matchesText(matcher: Pick<Matcher, 'op' | 'value'>, text: string): boolean {
  switch (matcher.op) {
    case '=':
      return text === matcher.value;
    case '!=':
      return text !== matcher.value;
    case '=~':
      return compileRegExp(matcher.value, { anchored: true, dotAll: true }).test(text);
    case '!~':
      return !compileRegExp(matcher.value, { anchored: true, dotAll: true }).test(text);
  }
}

/** `service_name` is the first of the fields that has a value, and never empty. */
function serviceFilter(matcher: Matcher, fields: readonly string[]): LogsqlFilter {
  switch (matcher.op) {
    case '!=':
      return not(serviceIs('=', matcher.value, fields));
    case '!~':
      return not(serviceIs('=~', matcher.value, fields));
    case '=':
    case '=~':
      return serviceIs(matcher.op, matcher.value, fields);
  }
}

function serviceIs(op: '=' | '=~', value: string, fields: readonly string[]): LogsqlFilter {
  if (op === '=' && value === '') return nothing;
  const positive = { op, value };
  const matchesEmpty = matchesText(positive, '');
  const empty = fields.map((field) => wholeMatcher(field, '=', ''));
  const groups: (readonly StreamMatcher[])[] = fields.map((field, index) => [
    ...empty.slice(0, index),
    wholeMatcher(field, op, value),
    ...(matchesEmpty ? [wholeMatcher(field, '!=', '')] : []),
  ]);
  if (matchesText(positive, unknownService)) groups.push(empty);
  return { kind: 'stream', groups };
}
