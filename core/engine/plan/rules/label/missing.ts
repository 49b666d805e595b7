import { and, not, present } from '../../../../victoria/logsql/build.js';
import { labelRule, sureFields, textOf } from './label-rule.js';

export const labelMissing = labelRule({
  id: 'labelMissing',
  construct: '| name=""',
  backend: '!name:*, for every stored spelling of the name',
  verdict: 'superset',
  reason: 'missing equals empty in both',
  example: '{namespace="shop"} | user=""',
  match: (placed) => {
    const filter = textOf(placed);
    return filter?.op === '=' && filter.value === '' ? filter.name : undefined;
  },
  emit: (name, names) => {
    const fields = sureFields(name, names);
    return fields === undefined ? undefined : and(...fields.map((field) => not(present(field))));
  },
});
