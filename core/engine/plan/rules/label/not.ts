import { labelMeaning } from '../../../../logql/pipeline/filter-meaning.js';
import { and, matcher, not, oneOf, or } from '../../../../victoria/logsql/build.js';
import type { LogsqlFilter } from '../../../../victoria/logsql/ast.js';
import { isBroken, longDecimalPattern } from '../../../../victoria/names/shown-value.js';
import { missingLineRows } from '../../missing-lines.js';
import { labelRule, sureFields, textOf, textsOf } from './label-rule.js';

const longDecimal = new RegExp(longDecimalPattern);

export const labelNot = labelRule({
  id: 'labelNot',
  construct: '| name!="v", | name!~"a|b"',
  backend: '!(name:in("v") {name="v" or name=""})',
  verdict: 'superset',
  reason:
    'sound where one stored field can be meant, and in rows with a line: fields of others are no labels',
  example: '{namespace="shop"} | user!="admin"',
  match: (placed) => {
    const filter = textOf(placed);
    if (filter === undefined) return undefined;
    const meaning = labelMeaning(filter);
    const texts = meaning.isNegated ? textsOf(meaning) : undefined;
    if (texts === undefined || texts.some((text) => isBroken(text) || longDecimal.test(text)))
      return undefined;
    return { name: filter.name, texts, naming: placed.scope.naming };
  },
  emit: ({ name, texts, naming }, names) => {
    const [field, another] = names.fieldsOf(name);
    const isCertain = another === undefined && (sureFields(name, names) ?? []).length > 0;
    return isCertain && field !== undefined ? or(isNot(field, texts), missingLineRows(naming)) : undefined;
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
