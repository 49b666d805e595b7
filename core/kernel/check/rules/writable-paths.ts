import { pathOptions } from '../path-options.js';
import type { Complaint, EnvironmentRule } from '../rule.js';

/** R061: files that the process keeps can be written. */
export const writablePaths: EnvironmentRule = {
  id: 'R061',
  title: 'a file to write is writable',
  tier: 'environment',
  severity: 'error',
  refusesStart: true,
  docs: 'A file that an option asks to keep (disk cache, snapshots) must be writable, or its folder when it does not exist yet. `serve` refuses to start otherwise.',
  async check(draft, surroundings) {
    const complaints: Complaint[] = [];
    for (const option of pathOptions(draft, 'write')) {
      const reason = await surroundings.canWrite(option.value);
      if (reason === undefined) continue;
      complaints.push({
        at: option.at,
        message: `${option.name} "${option.value}" cannot be written: ${reason}`,
      });
    }
    return complaints;
  },
};
