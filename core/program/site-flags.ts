import { definitionsOf, type OptionDefinition } from '../kernel/options/index.js';
import { draftPipeline } from '../kernel/pipeline/draft.js';
import { packageBuiltIns } from '../kernel/pipeline/index.js';
import { readSource } from '../kernel/pipeline/source.js';

/** The options of the plugins in a pipeline file, so that their flags work on the command line like any other. */
export async function siteDefinitions(file: string): Promise<readonly OptionDefinition[]> {
  const source = await readSource(file);
  // A file that cannot be read is reported when it is loaded.
  if ('reason' in source) return [];
  const builtIns = packageBuiltIns();
  const draft = await draftPipeline(source, { flags: new Map(), env: {} }, builtIns);
  const definitions = new Map<string, readonly OptionDefinition[]>();
  for (const { use, load } of draft.entries) {
    if (load.kind !== 'loaded' || builtIns.names.includes(use)) continue;
    definitions.set(load.plugin.name, definitionsOf(load.plugin.name, load.schema));
  }
  return [...definitions.values()].flat();
}
