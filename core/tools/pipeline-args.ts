import { UsageError, type CommandFlag, type CommandLine } from '../kernel/options/index.js';
import { loadPipeline, type Pipeline } from '../kernel/pipeline/index.js';
import { printFindings } from '../program/findings.js';
import type { Io } from '../program/io.js';
import { helpFlag, printsHelp, type CommandHelp } from '../program/own-flags.js';
import { readServingLine } from '../program/site-flags.js';

/** The command line of a command about a pipeline, which also accepts the flags of serve. */
interface PipelineArgs extends CommandLine {
  /**
   * Loads the pipeline; undefined if it cannot be started, after printing its findings. A command that only inspects a pipeline needs no
   * secret.
   */
  readonly load: (readsSecrets?: boolean) => Promise<Pipeline | undefined>;
}

const pipelineFlag: CommandFlag = {
  name: 'pipeline',
  kind: 'string',
  description: 'pipeline file; the default is that of serve',
};

/**
 * Parses such a command line; undefined if it only asks for help, which is printed. Throws UsageError with all problems, including those
 * that `judge` finds among the command's own flags.
 */
export async function readPipelineArgs(
  args: readonly string[],
  help: CommandHelp,
  io: Io,
  judge: (own: ReadonlyMap<string, string>) => readonly string[] = () => [],
): Promise<PipelineArgs | undefined> {
  const flags = [...help.flags, pipelineFlag];
  const { line, file } = await readServingLine(args, [...flags, helpFlag], io.env);
  if (printsHelp(line, { ...help, flags }, io)) return undefined;
  const problems = [...line.problems, ...judge(line.own)];
  if (problems.length > 0) throw new UsageError(problems);
  return {
    ...line,
    load: async (readsSecrets = false) => {
      const sources = { flags: line.flags, env: io.env, readsSecrets };
      const { pipeline, findings } = await loadPipeline(file, sources);
      if (pipeline === undefined) await printFindings(findings, io);
      return pipeline;
    },
  };
}
