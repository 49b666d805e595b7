import { mayBeFilledIn } from '../../../../victoria/names/otlp-fill.js';
import { labelRule, passesMissing, textOf } from './label-rule.js';

export const labelFilledIn = labelRule({
  id: 'labelFilledIn',
  construct: '| severity_text!="v" and other negated filters on fields that the backend fills in',
  backend: '',
  verdict: 'none',
  reason: 'a filled-in value is shown as missing',
  example: '{namespace="shop"} | severity_text!="Info"',
  match: (placed) => {
    const filter = textOf(placed);
    return filter !== undefined && passesMissing(filter) && mayBeFilledIn(filter.name);
  },
});
