import { exact, not, regexp } from '../../../../victoria/logsql/build.js';
import { selectorRule } from './selector-rule.js';

export const extraLabel = selectorRule({
  id: 'extraLabel',
  construct: '{name="v"} on a field of -extra-label-fields',
  backend: 'field:="v", field:~"^(?:re)$"',
  verdict: 'exact',
  reason: 'a column of rows that was declared a label; it has no index',
  example: {
    query: '{namespace="shop", org_team="red"}',
    whyHidden: 'only with -extra-label-fields',
    naming: { extraLabelFields: ['org.team'] },
  },
  match: ({ name, matcher, naming }) => {
    const field = naming.extraLabels.get(name);
    return field !== undefined && naming.labelOf(field) !== name ? { matcher, field } : undefined;
  },
  emit: ({ matcher: { op, value }, field }) => {
    const filter = op === '=' || op === '!=' ? exact(field, value) : regexp(field, `^(?:${value})$`);
    return { filter: op === '=' || op === '=~' ? filter : not(filter) };
  },
});
