import { optionComplaints } from '../option-complaints.js';
import type { TextRule } from '../rule.js';

/** R008: every option has a value that its schema allows, whoever gave it. */
export const badValue: TextRule = {
  id: 'R008',
  title: 'an option has an allowed value',
  tier: 'structure',
  severity: 'error',
  docs: 'The value has the wrong type, is out of bounds, is none of the allowed words, or is no duration, address or URL. Types are never converted: `"5"` is a text and not a number. When a flag or an environment variable gave the value, the message names it.',
  check: (draft) => optionComplaints(draft, 'bad-value'),
};
