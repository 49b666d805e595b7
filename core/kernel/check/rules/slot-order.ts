import type { TextRule } from '../rule.js';
import {
  byPlace,
  chainOf,
  groupMisplacements,
  listWords,
  mendingMove,
  quoteAll,
  type ChainStage,
  type MisplacedGroup,
} from '../slot-order.js';

/** R030: a slot is provided before the stage that needs it. */
export const slotOrder: TextRule = {
  id: 'R030',
  title: 'a stage stands behind what it needs',
  tier: 'meaning',
  severity: 'error',
  isAboutWhole: true,
  docs: 'A stage needs a fact (a slot, such as `tenant`, `plan` or `upstream`) that only a stage behind it gives. The finding points at the first stage that comes too early and says which move mends it. One stage in the wrong place is reported once, with all that it breaks.',
  check(draft) {
    const { stages } = chainOf(draft);
    return groupMisplacements(stages).map((group) => {
      const needers = byPlace(
        stages,
        group.edges.map((edge) => edge.needer),
      );
      const at = (needers[0] ?? group.culprit).entry.at;
      return { at, message: explain(stages, group, needers), fix: mendingMove(stages, group) };
    });
  },
};

function explain(
  stages: readonly ChainStage[],
  group: MisplacedGroup,
  needers: readonly ChainStage[],
): string {
  const needs = needers.length === 1 ? 'needs' : 'need';
  const givers = byPlace(
    stages,
    group.edges.map((edge) => edge.giver),
  );
  const reasons = givers.map((giver) => {
    const slots = [...new Set(group.edges.filter((edge) => edge.giver === giver).map((edge) => edge.slot))];
    return `${listWords(slots)}, which "${giver.entry.id}" gives only later (line ${giver.entry.at.line})`;
  });
  return `${quoteAll(needers)} ${needs} ${listWords(reasons)}`;
}
