import {
  FlagIndex,
  parseCommandLine,
  UsageError,
  type CommandFlag,
  type CommandLine,
} from '../kernel/options/index.js';
import type { Io } from './io.js';

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

/** A command for its help. */
export interface CommandHelp {
  readonly usage: string;
  /** Its own flags. */
  readonly flags: readonly CommandFlag[];
  /** Text behind the flags. */
  readonly about?: string;
}

export const helpFlag: CommandFlag = { name: 'help', kind: 'boolean', description: 'show this help' };

/** Prints the help of a command if its command line asks for it; true then. */
export function printsHelp(
  { own }: CommandLine,
  { usage, flags, about = '' }: CommandHelp,
  io: Pick<Io, 'out'>,
): boolean {
  if (own.get('help') !== 'true') return false;
  const lines = [...flags, helpFlag].map(
    (flag) => `  -${flag.name}${flag.kind === 'string' ? '=VALUE' : ''}  ${flag.description}`,
  );
  io.out([`Usage: ref-proxy ${usage}`, '', ...lines, about].join('\n'));
  return true;
}

/**
 * Parses the command line of a command without options of the pipeline file; undefined if it only asks for help, which is printed. Throws
 * UsageError with all problems.
 */
export function readPlainArgs(
  args: readonly string[],
  help: CommandHelp,
  io: Pick<Io, 'out'>,
): CommandLine | undefined {
  const line = parseCommandLine(args, new FlagIndex([]), [...help.flags, helpFlag]);
  if (line.problems.length > 0) throw new UsageError(line.problems);
  return printsHelp(line, help, io) ? undefined : line;
}
