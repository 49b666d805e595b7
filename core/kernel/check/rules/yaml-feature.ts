import { yamlComplaints } from '../yaml-complaints.js';
import type { TextRule } from '../rule.js';

/** R004: only YAML features that every reader of the file supports. */
export const yamlFeature: TextRule = {
  id: 'R004',
  title: 'no tags, merge keys or endless aliases',
  tier: 'structure',
  severity: 'error',
  docs: 'Custom tags (`!name`), merge keys (`<<`), keys that are not plain text, aliases without an anchor or that hold themselves, and files that grow beyond 20000 values by aliases are not read. An alias for a whole value (`*name`) is fine.',
  check: (draft) => yamlComplaints(draft, 'feature'),
};
