import type { LogsqlFilter } from '../../../../victoria/logsql/ast.js';
import { and, exact, not, nothing, or, regexp } from '../../../../victoria/logsql/build.js';
import { matchesText } from '../../matches-text.js';
import { selectorRule } from './selector-rule.js';

export const declaredLabel = selectorRule({
  id: 'declaredLabel',
  construct: '{name="v"} on a field of -extra-label-fields or -field-mapping',
  backend: 'field:="v", field:~"^(?:re)$"',
  verdict: 'exact',
  reason:
    'the field may be a column of rows only, which the index of streams does not know; not where -stream-fields has it',
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
});

/** The first of the fields that has a value is the label. */
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
