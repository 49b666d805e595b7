import type { OptionDefinition } from '../options/index.js';
import type { PipelineDraft } from '../pipeline/draft.js';
import { pathUseOf, type PathUse } from '../options/path-use.js';
import { allOptions, isFilled, type FoundOption } from './option-lookup.js';

/** The files of secrets are read, whatever flags they have. */
function useOf({ flag, fileOf }: OptionDefinition): PathUse | undefined {
  if (fileOf !== undefined) return 'read';
  return flag === undefined ? undefined : pathUseOf(flag);
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
