import { suggest } from '../../options/index.js';
import { builtInGivers } from '../built-in-givers.js';
import type { PipelineDraft } from '../../pipeline/draft.js';
import type { Complaint, TextRule } from '../rule.js';
import { chainOf, gives, quoteAll, type ChainStage } from '../slot-order.js';

/** R031: some stage provides each slot that a stage needs. */
export const slotMissing: TextRule = {
  id: 'R031',
  title: 'somebody gives what a stage needs',
  tier: 'meaning',
  severity: 'error',
  isAboutWhole: true,
  docs: 'A stage needs a slot that no enabled stage of the file gives. Of the built-in stages `tenancy` gives `tenant`, `translate` gives `plan` and `backend` gives `upstream`. A slot is told once, at the first stage that needs it.',
  check(draft) {
    const { stages, isWhole } = chainOf(draft);
    // A stage that could not be loaded may be the one that provides it; its own finding comes first.
    if (!isWhole) return [];
    const missing = new Map<string, readonly ChainStage[]>();
    for (const needer of stages) {
      for (const slot of needer.plugin.needs) {
        if (stages.some((stage) => stage !== needer && gives(stage, slot))) continue;
        missing.set(slot, [...(missing.get(slot) ?? []), needer]);
      }
    }
    return [...missing].flatMap(([slot, needers]): readonly Complaint[] => {
      const [first] = needers;
      if (first === undefined) return [];
      const message = `${quoteAll(needers)} ${needers.length === 1 ? 'needs' : 'need'} ${slot}, which no stage gives`;
      return [{ at: first.entry.at, message, fix: fixOf(draft, stages, first, slot) }];
    });
  },
};

function fixOf(draft: PipelineDraft, stages: readonly ChainStage[], first: ChainStage, slot: string): string {
  const disabled = draft.entries.find(
    ({ list, isEnabled, load }) =>
      list === 'stages' &&
      !isEnabled &&
      load.kind === 'loaded' &&
      load.plugin.kind === 'stage' &&
      load.plugin.gives.some((given) => given === slot),
  );
  if (disabled !== undefined) return `enable "${disabled.id}" (line ${disabled.at.line}), which gives it`;
  const giver = builtInGivers.get(slot);
  if (giver !== undefined) return `add "- use: ${giver}", which gives it, above line ${first.entry.at.line}`;
  const known = [...builtInGivers.keys(), ...stages.flatMap(({ plugin }) => plugin.gives)];
  const meant = suggest(slot, known);
  return meant === undefined ? 'add a stage before it that gives it' : `did you mean "${meant}"?`;
}
