import { findOption, howToSet, isFilled } from '../option-lookup.js';
import type { TextRule } from '../rule.js';

/** R041: a metrics listener has a plugin that serves metrics. */
export const metricsListener: TextRule = {
  id: 'R041',
  title: 'a metrics listener needs instrumentation',
  tier: 'meaning',
  severity: 'error',
  docs: '`metricsListen` opens an address for `/metrics`, which exists only with `registerInstrumentation: true`.',
  check(draft) {
    const listen = findOption(draft, 'metrics-listen');
    const register = findOption(draft, 'server.register-instrumentation');
    if (!isFilled(listen) || register?.value === true) return [];
    const message = `${listen.name} "${listen.value}" requires -server.register-instrumentation=true: without it there is no /metrics to serve`;
    const fix = `set ${howToSet(register, 'server.register-instrumentation')} to true, or take ${listen.definition.key} out`;
    return [{ at: listen.at, message, fix }];
  },
};
