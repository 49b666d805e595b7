import type { TextRule } from '../rule.js';
import { chainOf, misplacements, quoteAll } from '../slot-order.js';

/** R034: no stage comes after one that never runs the rest of the chain. */
export const behindTerminal: TextRule = {
  id: 'R034',
  title: 'no stage stands behind the one that answers',
  tier: 'meaning',
  severity: 'error',
  isAboutWhole: true,
  docs: 'A stage that answers by itself never runs what stands behind it; the stages there would do nothing.',
  check(draft) {
    const { stages } = chainOf(draft);
    const place = stages.findIndex((stage) => stage.plugin.rest === 'never');
    const terminal = stages[place];
    const behind = stages.slice(place + 1);
    const [first] = behind;
    if (terminal === undefined || first === undefined) return [];
    // Another finding already tells the operator to move it.
    if (misplacements(stages).some((edge) => edge.needer === terminal)) return [];
    const verb = behind.length === 1 ? 'stands' : 'stand';
    const message = `${quoteAll(behind)} ${verb} behind "${terminal.entry.id}" (line ${terminal.entry.at.line}), which answers without running the rest`;
    return [
      { at: first.entry.at, message, fix: `move ${quoteAll(behind)} above line ${terminal.entry.at.line}` },
    ];
  },
};
