import { stageRule } from './stage-rule.js';

export const parser = stageRule({
  id: 'parser',
  construct: '| json, | logfmt, | regexp, | pattern',
  backend: '',
  verdict: 'none',
  reason: 'names, duplicates, clashes and errors are read differently',
  example: '{namespace="shop"} | logfmt',
  match: ({ kind }) => kind === 'json' || kind === 'logfmt' || kind === 'regexp' || kind === 'pattern',
});
