import { yamlComplaints } from '../yaml-complaints.js';
import type { TextRule } from '../rule.js';

/** R002: the file holds exactly one document. */
export const oneDocument: TextRule = {
  id: 'R002',
  title: 'the file is one document',
  tier: 'structure',
  severity: 'error',
  docs: 'A pipeline file holds one YAML document. An empty file holds none, and a line `---` between values begins a second one.',
  check: (draft) => yamlComplaints(draft, 'documents'),
};
