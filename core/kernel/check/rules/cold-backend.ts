import { findOption, howToSet, isFilled } from '../option-lookup.js';
import type { TextRule } from '../rule.js';

/** R049: cold routing has a backend. */
export const coldBackend: TextRule = {
  id: 'R049',
  title: 'cold routing needs a cold backend',
  tier: 'meaning',
  severity: 'error',
  docs: 'With `-cold-enabled` old data is read from a second backend, which `-cold-backend` names.',
  check(draft) {
    const enabled = findOption(draft, 'cold-enabled');
    const backend = findOption(draft, 'cold-backend');
    if (enabled?.value !== true || isFilled(backend)) return [];
    const message = `${enabled.name} is true but no cold backend is given`;
    return [{ at: enabled.at, message, fix: `set ${howToSet(backend, 'cold-backend')}` }];
  },
};
