import type { Complaint, TextRule } from '../rule.js';
import { chainOf, gives, listWords } from '../slot-order.js';

/** R031: some stage provides each slot that a stage needs. */
export const slotMissing: TextRule = {
  id: 'R031',
  title: 'somebody gives what a stage needs',
  tier: 'meaning',
  severity: 'error',
  isAboutWhole: true,
  docs: 'A stage needs a slot that no enabled stage of the file gives. Of the built-in stages `tenancy` gives `tenant`, `translate` gives `plan` and `backend` gives `upstream`.',
  check(draft) {
    const { stages, isWhole } = chainOf(draft);
    // A stage that could not be loaded may be the one that provides it; its own finding comes first.
    if (!isWhole) return [];
    return stages.flatMap((needer): readonly Complaint[] => {
      const slots = needer.plugin.needs.filter(
        (slot) => !stages.some((stage) => stage !== needer && gives(stage, slot)),
      );
      if (slots.length === 0) return [];
      const disabled = draft.entries.find(
        ({ list, isEnabled, load }) =>
          list === 'stages' &&
          !isEnabled &&
          load.kind === 'loaded' &&
          load.plugin.kind === 'stage' &&
          load.plugin.gives.some((slot) => slots.includes(slot)),
      );
      const fix =
        disabled === undefined
          ? 'add a stage before it that gives it'
          : `enable "${disabled.id}" (line ${disabled.at.line}), which gives it`;
      return [
        {
          at: needer.entry.at,
          message: `"${needer.entry.id}" needs ${listWords(slots)}, which no stage gives`,
          fix,
        },
      ];
    });
  },
};
