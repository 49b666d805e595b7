import {
  builtInDefinitions,
  definitionsOf,
  FlagIndex,
  parseCommandLine,
  shippedPipeline,
  type CommandFlag,
  type CommandLine,
  type Environment,
  type OptionDefinition,
} from '../kernel/options/index.js';
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

/** The built-in options, and those of the plugins in a pipeline file. */
export async function definitionsFor(file: string): Promise<readonly OptionDefinition[]> {
  return [...builtInDefinitions(), ...(await siteDefinitions(file))];
}

/** A command line with flags of serve, the pipeline file that it names, and the options that have these flags. */
interface ServingLine {
  readonly line: CommandLine;
  readonly file: string;
  readonly definitions: readonly OptionDefinition[];
}

/** Parses the command line of a command that accepts the flags of serve, in addition to its own. */
export async function readServingLine(
  args: readonly string[],
  own: readonly CommandFlag[],
  env: Environment,
  pipeline = shippedPipeline(),
): Promise<ServingLine> {
  const named = parseCommandLine(args, new FlagIndex(builtInDefinitions()), own, env).own.get('pipeline');
  const file = named ?? pipeline;
  const definitions = await definitionsFor(file);
  return { line: parseCommandLine(args, new FlagIndex(definitions), own, env), file, definitions };
}
