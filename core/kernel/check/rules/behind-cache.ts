import type { Complaint, TextRule } from '../rule.js';
import { byPlace, chainOf, misplacements, type ChainStage } from '../slot-order.js';

/** R036: a stage of a site is not skipped by a cache above it. */
export const behindCache: TextRule = {
  id: 'R036',
  title: 'a stage of a site stands above the caches',
  tier: 'meaning',
  severity: 'warning',
  isAboutWhole: true,
  docs: 'A cache (`tier0`, `kept-patterns`, `label-index`, `window-split`, `peer-cache`) answers without running what stands behind it. A stage there that refuses, changes or counts by who asks would be skipped: one client would get what another was allowed to see. Move it above the caches, or, if what it does follows from the request, the tenant and its options alone, say so with `behindCaches: true` in its definition.',
  check(draft) {
    const { stages } = chainOf(draft);
    return stages.flatMap((stage, place): readonly Complaint[] => {
      if (draft.schemas.has(stage.entry.use) || stage.plugin.behindCaches === true) return [];
      const cache = stages.slice(0, place).find(keepsAnswers);
      if (cache === undefined) return [];
      const line = cache.entry.at.line;
      const message = `"${stage.entry.id}" stands behind "${cache.entry.id}" (line ${line}), which answers from its cache without running it: what it refuses or changes for one client, another would get`;
      const fix = canMove(stages, stage, cache)
        ? `move "${stage.entry.id}" above line ${line}, or declare behindCaches: true if it treats all clients of a tenant alike`
        : 'declare behindCaches: true if it treats all clients of a tenant alike';
      return [{ at: stage.entry.at, message, fix }];
    });
  },
};

function keepsAnswers({ plugin, entry }: ChainStage): boolean {
  return plugin.keepsAnswers === true && entry.options?.resolved.options['enabled'] !== false;
}

/** Whether a stage would have all that it needs above the cache. */
function canMove(stages: readonly ChainStage[], stage: ChainStage, cache: ChainStage): boolean {
  const rest = stages.filter((each) => each !== stage);
  const at = byPlace(rest, [cache]).length === 0 ? 0 : rest.indexOf(cache);
  const moved = [...rest.slice(0, at), stage, ...rest.slice(at)];
  return misplacements(moved).length <= misplacements(stages).length;
}
