import { isDerived, labelRule } from './label-rule.js';

export const labelDerived = labelRule({
  id: 'labelDerived',
  construct: '| service_name="v", | detected_level="info", | name_extracted="v", | __error__="v"',
  backend: '',
  verdict: 'none',
  reason: 'the value is made here',
  example: '{namespace="shop"} | detected_level="info"',
  match: ({ comparison }) => isDerived(comparison.name),
});
