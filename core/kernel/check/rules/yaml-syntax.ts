import { yamlComplaints } from '../yaml-complaints.js';
import type { TextRule } from '../rule.js';

/** R001: the file is valid YAML. */
export const yamlSyntax: TextRule = {
  id: 'R001',
  title: 'the file is YAML',
  tier: 'structure',
  severity: 'error',
  docs: 'The file cannot be read, is not UTF-8, or is not YAML 1.2. Nothing else is checked until it is. Indent with spaces; put a value that holds `: `, ` #` or brackets in quotes.',
  check: (draft) => yamlComplaints(draft, 'syntax'),
};
