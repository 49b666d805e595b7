import { yamlComplaints } from '../yaml-complaints.js';
import type { TextRule } from '../rule.js';

/** R010: what a list includes can be put in its place. */
export const include: TextRule = {
  id: 'R010',
  title: 'a file that is included can be read',
  tier: 'structure',
  severity: 'error',
  docs: '`- include: ./file.yaml` stands for the entries of a file that is a list, `- include: ./file.yaml#name` for a list under `fragments` of a file. It stands alone in its item. Files do not include themselves, not more than 8 deep, and not more than 64 in one pipeline.',
  check: (draft) => yamlComplaints(draft, 'include'),
};
