import type { Complaint, TextRule } from '../rule.js';
import { chainOf, type ChainStage } from '../slot-order.js';

/** R032: no two stages provide the same slot. */
export const slotTwice: TextRule = {
  id: 'R032',
  title: 'a slot is given once',
  tier: 'meaning',
  severity: 'error',
  isAboutWhole: true,
  docs: 'Two enabled stages give the same slot, so that the second would undo the work of the first. Take one out or disable it.',
  check(draft) {
    const first = new Map<string, ChainStage>();
    const complaints: Complaint[] = [];
    for (const stage of chainOf(draft).stages) {
      for (const slot of stage.plugin.gives) {
        const before = first.get(slot);
        if (before === undefined) {
          first.set(slot, stage);
          continue;
        }
        // The same entry twice is told by its id.
        if (before.entry.id === stage.entry.id) continue;
        const message = `"${stage.entry.id}" gives ${slot}, which "${before.entry.id}" gives already (line ${before.entry.at.line})`;
        complaints.push({ at: stage.entry.at, message, fix: 'remove or disable one of the two' });
      }
    }
    return complaints;
  },
};
