import { labelMatch, selectorRule } from './selector-rule.js';

export const streamMatcher = selectorRule({
  id: 'streamMatcher',
  construct: '{name="v"}, !=, =~, !~',
  backend: '{name="v"}, for every stored spelling of the name',
  verdict: 'exact',
  reason:
    'missing equals empty in both, patterns are anchored and `.` matches line feeds in both; a name with underscores may be stored with dots or dashes, which a listing of stream fields shows',
  example: '{namespace="shop", pod=~"cart-.+"}',
  match: (named) => named,
  emit: labelMatch,
});
