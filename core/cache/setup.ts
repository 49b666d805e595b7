import { createHash } from 'node:crypto';
import type { StaticDescription } from '../kernel/describe.js';

/** Stages that only keep answers. */
const keepers: ReadonlySet<string> = new Set(['tier0', 'kept-patterns', 'label-index', 'peer-cache']);
/** From the first of these on, what stages do is no part of a request, and so of no key. */
const firstToCount: ReadonlySet<string> = new Set([...keepers, 'translate', 'window-split']);

/**
 * The options that answers depend on beside their keys, as 16 hex digits: those of the names and limits, and of the stages from the first
 * on that keeps answers or plans queries. What stages before it change is in the request, whose parts are the key. What a file holds may
 * have been made by a process with other ones: it counts for those with the same.
 */
export function setupOf({ sections, stages }: Pick<StaticDescription, 'sections' | 'stages'>): string {
  const deciding = sections.filter(({ name }) => name === 'names' || name === 'limits');
  const parts = [...deciding, ...decidingStages(stages, ({ name }) => name)].map(({ name, options }) => [
    name,
    options.filter(({ isNeutral }) => !isNeutral).map(({ key, value }) => [key, value ?? null]),
  ]);
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}

/** The stages that answers depend on beside their keys. */
export function decidingStages<Stage>(
  stages: readonly Stage[],
  nameOf: (stage: Stage) => string,
): readonly Stage[] {
  const first = stages.findIndex((stage) => firstToCount.has(nameOf(stage)));
  return stages.slice(Math.max(0, first)).filter((stage) => !keepers.has(nameOf(stage)));
}
