import { listeners } from '../listeners.js';
import type { Complaint, EnvironmentRule } from '../rule.js';

/** R063: the addresses to listen on are free. */
export const freePorts: EnvironmentRule = {
  id: 'R063',
  title: 'an address to listen on is free',
  tier: 'environment',
  severity: 'error',
  docs: 'Every listener of the file is opened for a moment. A proxy that runs already holds its ports: run this tier where and when it is to start.',
  async check(draft, surroundings) {
    const complaints: Complaint[] = [];
    for (const { option, text } of listeners(draft)) {
      const reason = await surroundings.canListen(text);
      if (reason === undefined) continue;
      complaints.push({ at: option.at, message: `${option.name} "${text}" cannot be opened: ${reason}` });
    }
    return complaints;
  },
};
