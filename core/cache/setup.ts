import { createHash } from 'node:crypto';
import type { PipelineDescription } from '../kernel/plugin/host.js';

/** Stages that only keep answers. */
const keepers: ReadonlySet<string> = new Set(['tier0', 'kept-patterns', 'label-index', 'peer-cache']);

/**
 * The options that answers depend on beside their keys, as 16 hex digits. What a file holds may have been made by a process with other
 * ones: it counts for those with the same.
 */
export function setupOf({ sections, stages }: Pick<PipelineDescription, 'sections' | 'stages'>): string {
  const deciding = sections.filter(({ name }) => name === 'names' || name === 'limits');
  const others = stages.filter(({ name }) => !keepers.has(name));
  const parts = [...deciding, ...others].map(({ name, options }) => [
    name,
    options.map(({ key, value }) => [key, value ?? null]),
  ]);
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}
