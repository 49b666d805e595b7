import type { OptionDefinition } from '../options/index.js';
import type { PipelineDraft } from '../pipeline/draft.js';
import { allOptions, isFilled, type FoundOption } from './option-lookup.js';

export type PathUse = 'read' | 'write';

/** Flags whose value is a file, and how the process uses it. */
const pathFlags: ReadonlyMap<string, PathUse> = new Map([
  ['tenant-map-file', 'read'],
  ['tls-cert-file', 'read'],
  ['tls-key-file', 'read'],
  ['tls-client-ca-file', 'read'],
  ['patterns-custom-file', 'read'],
  ['patterns-persist-path', 'write'],
  ['label-values-index-persist-path', 'write'],
  ['disk-cache-path', 'write'],
]);

/** How the process uses the file that a flag names; undefined where it names none. */
export function pathUseOf(flag: string): PathUse | undefined {
  return pathFlags.get(flag);
}

/** The files of secrets are read, whatever flags they have. */
function useOf({ flag, fileOf }: OptionDefinition): PathUse | undefined {
  if (fileOf !== undefined) return 'read';
  return flag === undefined ? undefined : pathFlags.get(flag);
}

/** Every option of the pipeline that names a file for this use. */
export function pathOptions(
  draft: PipelineDraft,
  use: PathUse,
): readonly (FoundOption & { readonly value: string })[] {
  return allOptions(draft)
    .filter(({ definition }) => useOf(definition) === use)
    .filter(isFilled);
}
