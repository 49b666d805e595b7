import { stageRule } from './stage-rule.js';

export const lineAfterChange = stageRule({
  id: 'lineAfterChange',
  construct: 'a line filter after line_format, decolorize or unpack',
  backend: '',
  verdict: 'none',
  reason: 'it reads the changed line',
  example: '{namespace="shop"} | line_format "{{.pod}}" |= "cart"',
  match: ({ kind }) => kind === 'line-filter',
});
