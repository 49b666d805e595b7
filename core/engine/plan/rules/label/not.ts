import { labelMeaning } from '../../../../logql/pipeline/filter-meaning.js';
import { and, matcher, not, oneOf } from '../../../../victoria/logsql/build.js';
import type { LogsqlFilter } from '../../../../victoria/logsql/ast.js';
import { isBroken, longDecimalPattern } from '../../../../victoria/names/shown-value.js';
import { labelRule, sureFields, textOf, textsOf } from './label-rule.js';

const longDecimal = new RegExp(longDecimalPattern);

export const labelNot = labelRule({
  id: 'labelNot',
  construct: '| name!="v", | name!~"a|b"',
  backend: '!(name:in("v") {name="v" or name=""})',
  verdict: 'superset',
  reason: 'sound where one stored field can be meant',
  example: '{namespace="shop"} | user!="admin"',
  match: (placed) => {
    const filter = textOf(placed);
    if (filter === undefined) return undefined;
    const meaning = labelMeaning(filter);
    const texts = meaning.isNegated ? textsOf(meaning) : undefined;
    if (texts === undefined || texts.some((text) => isBroken(text) || longDecimal.test(text)))
      return undefined;
    return { name: filter.name, texts };
  },
  emit: ({ name, texts }, names) => {
    const [field, another] = names.fieldsOf(name);
    const isCertain = another === undefined && (sureFields(name, names) ?? []).length > 0;
    return isCertain && field !== undefined ? isNot(field, texts) : undefined;
  },
});

function isNot(field: string, texts: readonly string[]): LogsqlFilter {
  // Where the stream has the field, its value counts; a row may show another one over it.
  const ofStream: LogsqlFilter = {
    kind: 'stream',
    groups: [[{ kind: 'list', label: field, op: 'in', values: texts }], [matcher(field, '=', '')]],
  };
  return not(and(oneOf(field, texts), ofStream));
}
