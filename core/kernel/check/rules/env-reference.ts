import { yamlComplaints } from '../yaml-complaints.js';
import type { TextRule } from '../rule.js';

/** R005: references to the environment are whole values and resolve to one. */
export const envReference: TextRule = {
  id: 'R005',
  title: 'an environment reference is a whole value and has one',
  tier: 'structure',
  severity: 'error',
  docs: '`${NAME}` and `${NAME:-default}` stand for a whole value, never for a part of one, and a reference without a default needs the variable to be set. `$${` writes a literal `${`.',
  check: (draft) => yamlComplaints(draft, 'reference'),
};
