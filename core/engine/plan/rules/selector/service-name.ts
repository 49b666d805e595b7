import type { LogsqlFilter, StreamMatcher } from '../../../../victoria/logsql/ast.js';
import { not, nothing } from '../../../../victoria/logsql/build.js';
import { serviceNameLabel, unknownService } from '../../../../victoria/names/service-name.js';
import { wholeMatcher } from '../../backend-pattern.js';
import { matchesText } from '../../matches-text.js';
import { selectorRule } from './selector-rule.js';

export const serviceName = selectorRule({
  id: 'serviceName',
  construct: '{service_name="v"}',
  backend: '{service_name="v" or service_name="",service="v" or ...}',
  verdict: 'exact',
  reason: 'the label is derived: the first label of the discovery list that a stream has decides',
  example: '{service_name="cart"}',
  match: ({ name, matcher, naming }) =>
    name === serviceNameLabel ? { matcher, fields: naming.serviceFields() } : undefined,
  emit: ({ matcher: { op, value }, fields }) => {
    const filter = serviceIs(op === '=' || op === '!=' ? '=' : '=~', value, fields);
    return { filter: op === '=' || op === '=~' ? filter : not(filter) };
  },
});

/** `service_name` is the first of the fields that has a value, and never empty. */
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
