import { or, present } from '../../../../victoria/logsql/build.js';
import { mayPass } from './number-field.js';
import { labelRule, spellings } from './label-rule.js';

export const labelNumber = labelRule({
  id: 'labelNumber',
  construct: '| name > 10, | name > 1s, | name > 1KB',
  backend: 'name:* !(name:<=10 name:~"plain number")',
  verdict: 'superset',
  reason: 'a row without the label is dropped; a value that is no plain number is kept and marked',
  example: '{namespace="shop"} | status_code >= 500',
  match: ({ comparison }) =>
    comparison.kind === 'number' || comparison.kind === 'duration' || comparison.kind === 'bytes'
      ? comparison
      : undefined,
  emit: (comparison, names) =>
    or(
      ...spellings(comparison.name, names).map((field) =>
        comparison.kind === 'number' ? mayPass(field, comparison) : present(field),
      ),
    ),
});
