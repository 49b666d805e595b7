import { or, present } from '../../../../victoria/logsql/build.js';
import { labelRule, spellings } from './label-rule.js';

export const labelAddress = labelRule({
  id: 'labelAddress',
  construct: '| name = ip("10.0.0.0/8")',
  backend: 'name:*',
  verdict: 'superset',
  reason: 'a row without the label is dropped, networks are compared here',
  example: '{namespace="shop"} | client=ip("10.0.0.0/8")',
  match: ({ comparison: { kind, name } }) => (kind === 'ip' ? name : undefined),
  emit: (name, names) => or(...spellings(name, names).map(present)),
});
