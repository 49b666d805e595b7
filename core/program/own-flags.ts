import {
  FlagIndex,
  parseCommandLine,
  UsageError,
  type CommandFlag,
  type CommandLine,
} from '../kernel/options/index.js';

/** Flags of the serving commands, in addition to the options of the pipeline file. */
export const serveFlags: readonly CommandFlag[] = [
  { name: 'pipeline', kind: 'string', description: 'pipeline file to run' },
  {
    name: 'pipeline.watch',
    kind: 'boolean',
    description: 'reload the pipeline file when it changes, as with SIGHUP',
  },
];

/** Throws UsageError for the problems of a command line of flags alone. */
export function refuseProblems({ problems, positionals }: CommandLine): void {
  const stray = positionals.map((text) => `${text} is not a flag; flags begin with a dash`);
  if (problems.length + stray.length > 0) throw new UsageError([...problems, ...stray]);
}

/** The command line of a command without options of the pipeline file. */
export interface PlainArgs {
  readonly values: ReadonlyMap<string, string>;
  readonly positionals: readonly string[];
  readonly wantsHelp: boolean;
}

export const helpFlag: CommandFlag = { name: 'help', kind: 'boolean', description: 'show this help' };

/** Parses the flags of such a command. Throws UsageError with all problems. */
export function readPlainArgs(args: readonly string[], flags: readonly CommandFlag[]): PlainArgs {
  const line = parseCommandLine(args, new FlagIndex([]), [...flags, helpFlag]);
  if (line.problems.length > 0) throw new UsageError(line.problems);
  return { values: line.own, positionals: line.positionals, wantsHelp: line.own.get('help') === 'true' };
}

export function plainHelp(usage: string, flags: readonly CommandFlag[]): string {
  const lines = [...flags, helpFlag].map(
    (flag) => `  -${flag.name}${flag.kind === 'string' ? '=VALUE' : ''}  ${flag.description}`,
  );
  return [`Usage: ref-proxy ${usage}`, '', ...lines, ''].join('\n');
}
