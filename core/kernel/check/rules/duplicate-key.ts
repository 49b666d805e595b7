import { yamlComplaints } from '../yaml-complaints.js';
import type { TextRule } from '../rule.js';

/** R003: a mapping has no duplicate keys. */
export const duplicateKey: TextRule = {
  id: 'R003',
  title: 'a key stands once',
  tier: 'structure',
  severity: 'error',
  docs: 'A key that stands twice in one mapping would lose one of its values without a word. The finding points at the second and names the line of the first.',
  check: (draft) => yamlComplaints(draft, 'duplicate-key'),
};
