import { everything, nothing } from '../../../../victoria/logsql/build.js';
import { matchesText } from '../../matches-text.js';
import { selectorRule } from './selector-rule.js';

export const noSuchLabel = selectorRule({
  id: 'noSuchLabel',
  construct: '{name="v"} on a name that is never a label',
  backend: 'all rows or none',
  verdict: 'exact',
  reason: 'structured metadata cannot be selected by stream',
  example: '{namespace="shop", event_name="started"}',
  match: ({ name, matcher, naming }) => (naming.fieldsOf(name).length === 0 ? matcher : undefined),
  emit: (matcher) => ({ filter: matchesText(matcher, '') ? everything : nothing }),
});
