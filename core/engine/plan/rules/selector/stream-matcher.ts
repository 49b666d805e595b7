import { wholeMatcher } from '../../backend-pattern.js';
import { matchesText } from '../../matches-text.js';
import { selectorRule } from './selector-rule.js';

export const streamMatcher = selectorRule({
  id: 'streamMatcher',
  construct: '{name="v"}, !=, =~, !~',
  backend: '{name="v"}',
  verdict: 'exact',
  reason: 'missing equals empty in both, patterns are anchored and `.` matches line feeds in both',
  example: '{namespace="shop", pod=~"cart-.+"}',
  match: ({ name, matcher, naming }) => ({
    matcher,
    each: naming.fieldsOf(name).map((field) => wholeMatcher(field, matcher.op, matcher.value)),
  }),
  emit: ({ matcher, each }) =>
    // At most one of the stored spellings has a value; where the empty one matches, all the others must match too.
    each.length === 1 || matchesText(matcher, '')
      ? { matchers: each }
      : { filter: { kind: 'stream', groups: each.map((one) => [one]) } },
});
