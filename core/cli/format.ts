import { LogqlError, parseQuery, printQuery } from '../logql/index.js';
import { UsageError, type CommandFlag } from '../options/index.js';
import type { Io } from './io.js';
import { plainHelp, readPlainArgs } from './own-flags.js';

const flags: readonly CommandFlag[] = [
  { name: 'accept-dotted-names', kind: 'boolean', description: 'let names with dots through' },
];

/** Prints a LogQL query the way the format_query route does. */
export function format(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals, wantsHelp } = readPlainArgs(args, flags);
  if (wantsHelp) {
    io.out(plainHelp("format [flags] 'QUERY'", flags));
    return Promise.resolve(0);
  }
  const [query, ...others] = positionals;
  if (query === undefined || others.length > 0) throw new UsageError(['format takes one query, in quotes']);
  try {
    const dottedNames = values.get('accept-dotted-names') === 'true' ? 'accept' : 'reject';
    io.out(`${printQuery(parseQuery(query, { dottedNames }))}\n`);
    return Promise.resolve(0);
  } catch (error) {
    if (!(error instanceof LogqlError)) throw error;
    io.err(`${error.message}\n`);
    return Promise.resolve(1);
  }
}
