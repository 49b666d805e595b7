import { join } from 'node:path';
import {
  builtInDefinitions,
  FlagIndex,
  packageRoot,
  parseCommandLine,
  UsageError,
  type CommandFlag,
} from '../kernel/options/index.js';
import { loadPipeline, type Pipeline } from '../kernel/pipeline/index.js';
import { printFindings } from '../program/findings.js';
import type { Io } from '../program/io.js';
import { siteDefinitions } from '../program/site-flags.js';

/** The command line of a command about a pipeline, which also accepts the flags of serve. */
export interface PipelineArgs {
  readonly own: ReadonlyMap<string, string>;
  /** Texts of the flags of serve that are on the command line. */
  readonly given: ReadonlyMap<string, string>;
  readonly positionals: readonly string[];
  readonly wantsHelp: boolean;
  /** Loads the pipeline; undefined if it cannot be started, after printing its findings. */
  readonly load: (how?: { readonly readsSecrets: boolean }) => Promise<Pipeline | undefined>;
}

const shared: readonly CommandFlag[] = [
  { name: 'pipeline', kind: 'string', description: 'pipeline file; the default is that of serve' },
];
const help: CommandFlag = { name: 'help', kind: 'boolean', description: 'show this help' };

/** The own flags of such a command, for its help. */
export function flagsWithPipeline(flags: readonly CommandFlag[]): readonly CommandFlag[] {
  return [...flags, ...shared];
}

/** Parses such a command line. Throws UsageError with all problems, including those that `judge` finds among the command's own flags. */
export async function readPipelineArgs(
  args: readonly string[],
  flags: readonly CommandFlag[],
  io: Io,
  judge: (own: ReadonlyMap<string, string>) => readonly string[] = () => [],
): Promise<PipelineArgs> {
  const ownFlags = [...flagsWithPipeline(flags), help];
  const builtIns = builtInDefinitions();
  const named = parseCommandLine(args, new FlagIndex(builtIns), ownFlags, io.env).own.get('pipeline');
  const file = named ?? join(packageRoot(), 'pipelines', 'reference-compatible.yaml');
  const index = new FlagIndex([...builtIns, ...(await siteDefinitions(file))]);
  const { own, positionals, problems, flags: given } = parseCommandLine(args, index, ownFlags, io.env);
  const wantsHelp = own.get('help') === 'true';
  const all = wantsHelp ? [] : [...problems, ...judge(own)];
  if (all.length > 0) throw new UsageError(all);
  return {
    own,
    given,
    positionals,
    wantsHelp,
    load: async ({ readsSecrets } = { readsSecrets: own.get('run') === 'true' }) => {
      const { pipeline, findings } = await loadPipeline(file, {
        flags: given,
        env: io.env,
        // A command that only inspects a pipeline needs no secret.
        readsSecrets,
      });
      if (pipeline === undefined) await printFindings(findings, io);
      return pipeline;
    },
  };
}
