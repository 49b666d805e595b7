import { and, not, or, present } from '../../../../victoria/logsql/build.js';
import { missingLineRows } from '../../missing-lines.js';
import { labelRule, sureFields, textOf } from './label-rule.js';

export const labelMissing = labelRule({
  id: 'labelMissing',
  construct: '| name=""',
  backend: '!name:*, for every stored spelling of the name',
  verdict: 'superset',
  reason: 'missing equals empty in both; fields of rows without a line are no labels',
  example: '{namespace="shop"} | user=""',
  match: (placed) => {
    const filter = textOf(placed);
    return filter?.op === '=' && filter.value === ''
      ? { name: filter.name, naming: placed.scope.naming }
      : undefined;
  },
  emit: ({ name, naming }, names) => {
    const fields = sureFields(name, names);
    if (fields === undefined || fields.length === 0) return undefined;
    return or(and(...fields.map((field) => not(present(field)))), missingLineRows(naming));
  },
});
