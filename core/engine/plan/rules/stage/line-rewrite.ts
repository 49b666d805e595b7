import { stageRule } from './stage-rule.js';

export const lineRewrite = stageRule({
  id: 'lineRewrite',
  construct: '| line_format, | decolorize, | unpack',
  backend: '',
  verdict: 'none',
  reason: 'templates and escapes have no equal in the backend; a bare decolorize needs the line here',
  example: '{namespace="shop"} | decolorize',
  match: ({ kind }) => kind === 'line-format' || kind === 'decolorize' || kind === 'unpack',
});
