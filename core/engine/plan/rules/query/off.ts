import { kindOfRule } from '../rule.js';

/** `-pushdown`: with `off` the backend only selects streams. */
export type Pushdown = 'on' | 'off';

/** Defines a rule about a query as a whole. */
const settingRule = kindOfRule<Pushdown, never, [], 'none'>();

export const metricOff = settingRule({
  id: 'metricOff',
  construct: 'any query with -pushdown=off',
  backend: '',
  verdict: 'none',
  reason: 'switched off: the backend selects streams, everything else is done here',
  example: {
    query: '{namespace="shop"} |= "timeout"',
    whyHidden: 'any query with -pushdown=off',
    pushdown: 'off',
  },
  match: (pushdown) => pushdown === 'off',
});
