import { packageVersion, suggest, UsageError } from '../kernel/options/index.js';
import { commands } from './commands.js';
import { programHelp } from './help.js';
import type { Io } from './io.js';

/**
 * Finds the command and runs it. Flags without a command mean `serve`. Usage errors exit with 2, other failures with 1, both without a
 * stack.
 */
export async function runProgram(args: readonly string[], io: Io): Promise<number> {
  const [first = '', ...rest] = args;
  if (first === '' || first === 'help' || /^--?h(elp)?$/.test(first)) {
    io.out(programHelp(commands));
    return first === '' ? 2 : 0;
  }
  if (first === 'version' || /^--?v(ersion)?$/.test(first)) {
    io.out(`ref-proxy ${packageVersion()}\n`);
    return 0;
  }
  const isFlag = first.startsWith('-');
  const name = isFlag ? 'serve' : first;
  const command = commands.find((known) => known.name === name);
  if (command === undefined) {
    const meant = suggest(
      name,
      commands.map((known) => known.name),
    );
    io.err(`ref-proxy: unknown command ${name}${meant === undefined ? '' : `, did you mean ${meant}?`}\n`);
    return 2;
  }
  try {
    return await command.run(isFlag ? args : rest, io);
  } catch (error) {
    io.err(`ref-proxy ${name}: ${error instanceof Error ? error.message : 'failed'}\n`);
    return error instanceof UsageError ? error.exitCode : 1;
  }
}
