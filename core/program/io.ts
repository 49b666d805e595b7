import { withoutCredentials } from '../base/secrets.js';

/** The parts of the process that commands use, so that tests can replace them. */
export interface Io {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** True if `out` is a terminal that shows colours. */
  readonly isTerminal?: boolean;
}

/** True if findings are printed in colours. */
export function showsColor({ isTerminal, env }: Io): boolean {
  return isTerminal === true && (env['NO_COLOR'] ?? '') === '';
}

/** A command of the program. The result is the exit status: 0 success, 1 failure or findings, 2 wrong usage. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  run(args: readonly string[], io: Io): Promise<number>;
}

export function processIo(): Io {
  return {
    out: (text) => void process.stdout.write(text, onWritten),
    err: (text) => void process.stderr.write(withoutCredentials(text)),
    env: process.env,
    isTerminal: process.stdout.isTTY,
  };
}

/** Handles the result of a write: failing to write the output is a failure, unless its reader had enough (`| head`). */
function onWritten(error?: NodeJS.ErrnoException | null): void {
  if (error instanceof Error && error.code !== 'EPIPE') process.exitCode = 1;
}
