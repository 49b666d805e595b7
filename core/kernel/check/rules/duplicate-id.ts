import type { DraftEntry } from '../../pipeline/draft.js';
import type { Complaint, TextRule } from '../rule.js';

/** R023: every entry of the three lists has an id of its own. */
export const duplicateId: TextRule = {
  id: 'R023',
  title: 'an id stands once',
  tier: 'meaning',
  severity: 'error',
  docs: "Logs, metrics and messages name an entry by its id, which is the plugin's name unless `id` says otherwise. A plugin that stands twice needs an `id` in one place. Entries that are not enabled count too.",
  check(draft) {
    const first = new Map<string, DraftEntry>();
    const complaints: Complaint[] = [];
    for (const entry of draft.entries) {
      const before = first.get(entry.id);
      if (before === undefined) {
        first.set(entry.id, entry);
        continue;
      }
      const fix = entry.idAt === entry.useAt ? 'give it an "id" of its own' : 'choose another id';
      complaints.push({
        at: entry.idAt,
        message: `id "${entry.id}" is taken by the entry on line ${before.at.line}`,
        fix,
      });
    }
    return complaints;
  },
};
