import { pathOptions } from '../path-options.js';
import type { Complaint, EnvironmentRule } from '../rule.js';

/** R060: files that the process reads exist. */
export const readablePaths: EnvironmentRule = {
  id: 'R060',
  title: 'a file to read is readable',
  tier: 'environment',
  severity: 'error',
  docs: 'A file that an option names (certificates, tenant map, custom patterns, secrets) must exist and be readable for the user who runs the check.',
  async check(draft, surroundings) {
    const complaints: Complaint[] = [];
    for (const option of pathOptions(draft, 'read')) {
      const reason = await surroundings.canRead(option.value);
      if (reason === undefined) continue;
      complaints.push({
        at: option.at,
        message: `${option.name} "${option.value}" cannot be read: ${reason}`,
      });
    }
    return complaints;
  },
};
