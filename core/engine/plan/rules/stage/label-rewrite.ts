import { stageRule } from './stage-rule.js';

export const labelRewrite = stageRule({
  id: 'labelRewrite',
  construct: '| label_format, | drop, | keep',
  backend: '',
  verdict: 'none',
  reason: 'they change labels row by row',
  example: '{namespace="shop"} | drop pod',
  match: ({ kind }) => kind === 'label-format' || kind === 'drop' || kind === 'keep',
});
