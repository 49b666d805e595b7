import { labelRule } from './label-rule.js';

export const labelParsed = labelRule({
  id: 'labelParsed',
  construct:
    '| name!="v" behind a stage that can make, change or drop the name, and numbers behind one but | json and | logfmt',
  backend: '',
  verdict: 'none',
  reason: 'the value is not what is stored',
  example: '{namespace="shop"} | json | user!="admin"',
  match: ({ comparison, scope }) => !scope.isStored(comparison.name),
});
