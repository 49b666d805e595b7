import { LogqlError, parseQuery, printQuery, type Expr } from '../logql/index.js';
import { UsageError, type CommandFlag } from '../kernel/options/index.js';
import type { Io } from '../program/io.js';
import { readPlainArgs } from '../program/own-flags.js';

const flags: readonly CommandFlag[] = [
  { name: 'accept-dotted-names', kind: 'boolean', description: 'accept names with dots' },
];

/** Prints a LogQL query the way the format_query route does. */
export function format(args: readonly string[], io: Io): Promise<number> {
  return printRead('format', args, flags, io, (expr) => printQuery(expr));
}

const parseFlags: readonly CommandFlag[] = [
  ...flags,
  { name: 'json', kind: 'boolean', description: 'print the syntax tree as JSON (the only format)' },
];

/** Prints the syntax tree of a LogQL query as JSON; numbers outside JSON's range become texts. */
export function parse(args: readonly string[], io: Io): Promise<number> {
  return printRead('parse', args, parseFlags, io, (expr) =>
    JSON.stringify(expr, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value), 2),
  );
}

/** Reads the query argument of a command and prints the result; a parse error is reported with Loki's text. */
function printRead(
  command: string,
  args: readonly string[],
  known: readonly CommandFlag[],
  io: Io,
  print: (expr: Expr) => string,
): Promise<number> {
  const line = readPlainArgs(args, { usage: `${command} [flags] 'QUERY'`, flags: known }, io);
  if (line === undefined) return Promise.resolve(0);
  const [query, ...others] = line.positionals;
  if (query === undefined || others.length > 0)
    throw new UsageError([`${command} takes one query, in quotes`]);
  try {
    const dottedNames = line.own.get('accept-dotted-names') === 'true' ? 'accept' : 'reject';
    io.out(`${print(parseQuery(query, { dottedNames }))}\n`);
    return Promise.resolve(0);
  } catch (error) {
    if (!(error instanceof LogqlError)) throw error;
    io.err(`${error.message}\n`);
    return Promise.resolve(1);
  }
}
