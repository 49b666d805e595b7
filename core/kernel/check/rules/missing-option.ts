import { optionComplaints } from '../option-complaints.js';
import type { TextRule } from '../rule.js';

/** R009: options that have no default are given. */
export const missingOption: TextRule = {
  id: 'R009',
  title: 'a required option is given',
  tier: 'structure',
  severity: 'error',
  docs: 'The option has no default, and neither the file nor a flag nor the environment gives it. The finding points at the plugin or the mapping that lacks it.',
  check: (draft) => optionComplaints(draft, 'missing-option'),
};
