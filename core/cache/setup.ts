import { createHash } from 'node:crypto';
import type { StaticDescription } from '../kernel/describe.js';
import type { LoadedPlugin } from '../kernel/pipeline/types.js';
import type { Plugin } from '../kernel/plugin/contract.js';

/** Stages that only keep answers. */
const keepers: ReadonlySet<string> = new Set(['tier0', 'kept-patterns', 'label-index', 'peer-cache']);

/**
 * The options that answers depend on beside their keys, as 16 hex digits: those of the names and limits, and of the stages from the first
 * on that keeps answers or plans queries. What stages before it change is in the request, whose parts are the key. What a file holds may
 * have been made by a process with other ones: it counts for those with the same.
 */
export function setupOf(
  { sections, stages }: Pick<StaticDescription, 'sections' | 'stages'>,
  loaded: readonly LoadedPlugin[],
): string {
  const deciding = sections.filter(({ name }) => name === 'names' || name === 'limits');
  const ids = new Set(decidingStages(loaded).map(({ id }) => id));
  const parts = [...deciding, ...stages.filter(({ id }) => ids.has(id))].map(({ name, options }) => [
    name,
    options.filter(({ isNeutral }) => !isNeutral).map(({ key, value }) => [key, value ?? null]),
  ]);
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}

/** The stages that answers depend on beside their keys. */
export function decidingStages(stages: readonly LoadedPlugin[]): readonly LoadedPlugin[] {
  const first = stages.findIndex(({ plugin }) => isFirstToCount(plugin));
  return stages.slice(Math.max(0, first)).filter(({ plugin }) => !keepers.has(plugin.name));
}

/** From the first such stage on, what stages do is no part of a request, and so of no key. */
function isFirstToCount(plugin: Plugin): boolean {
  return plugin.name === 'translate' || (plugin.kind === 'stage' && plugin.keepsAnswers === true);
}
