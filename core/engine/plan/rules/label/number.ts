import { or, present } from '../../../../victoria/logsql/build.js';
import { labelRule, spellings } from './label-rule.js';

export const labelNumber = labelRule({
  id: 'labelNumber',
  construct: '| name > 10, | name > 1s, | name > 1KB',
  backend: 'name:*',
  verdict: 'superset',
  reason:
    'a row without the label is dropped; one whose value is no number is kept and marked, so values are compared here',
  example: '{namespace="shop"} | status_code >= 500',
  match: ({ comparison: { kind, name } }) =>
    kind === 'number' || kind === 'duration' || kind === 'bytes' ? name : undefined,
  emit: (name, names) => or(...spellings(name, names).map(present)),
});
