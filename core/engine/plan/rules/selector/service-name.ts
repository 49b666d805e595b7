import { serviceNameLabel } from '../../../../victoria/names/service-name.js';
import { labelMatch, selectorRule } from './selector-rule.js';

export const serviceName = selectorRule({
  id: 'serviceName',
  construct: '{service_name="v"}',
  backend: '{service_name="v" or service_name="",service="v" or ...}',
  verdict: 'exact',
  reason: 'the label is derived: the first label of the discovery list that a stream has decides',
  example: '{service_name="cart"}',
  match: (named) => (named.name === serviceNameLabel ? named : undefined),
  emit: labelMatch,
});
