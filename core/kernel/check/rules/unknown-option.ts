import { optionComplaints } from '../option-complaints.js';
import type { TextRule } from '../rule.js';

/** R007: every option is known to its plugin or section. */
export const unknownOption: TextRule = {
  id: 'R007',
  title: 'an option is known to its plugin',
  tier: 'structure',
  severity: 'error',
  docs: 'The plugin or section has no option of this name; a misspelt option would silently keep its default. docs/flags.md lists all options.',
  check: (draft) => optionComplaints(draft, 'unknown-option'),
};
