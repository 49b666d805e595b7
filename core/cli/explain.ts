import { Query } from '../api/query.js';
import { ApiError } from '../errors/api-error.js';
import { LogqlError } from '../logql/index.js';
import { Naming } from '../names/naming.js';
import { readBuiltInSchemas, resolveOptions, UsageError, type CommandFlag } from '../options/index.js';
import type { NamesOptions } from '../options/options.gen.js';
import { explainQuery } from '../plan/explain/explain.js';
import { printExplanation } from '../plan/explain/print.js';
import type { Io } from './io.js';
import { plainHelp, readPlainArgs } from './own-flags.js';

const flags: readonly CommandFlag[] = [
  { name: 'json', kind: 'boolean', description: 'print JSON instead of text' },
];

/** Prints what becomes of a query under the default names: tree, LogsQL, what is evaluated where and why, and what it costs. */
export function explain(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals, wantsHelp } = readPlainArgs(args, flags);
  if (wantsHelp) {
    io.out(plainHelp("explain [flags] 'QUERY'", flags));
    return Promise.resolve(0);
  }
  const [text, ...others] = positionals;
  if (text === undefined || others.length > 0) throw new UsageError(['explain takes one query, in quotes']);
  try {
    const naming = new Naming(defaultNames(io));
    const explanation = explainQuery(new Query(text, naming.dottedNames), naming);
    const isJson = values.get('json') === 'true';
    io.out(isJson ? `${JSON.stringify(explanation, undefined, 2)}\n` : printExplanation(explanation));
    return Promise.resolve(0);
  } catch (error) {
    if (!(error instanceof LogqlError || error instanceof ApiError)) throw error;
    io.err(`${error.message}\n`);
    return Promise.resolve(1);
  }
}

function defaultNames(io: Io): NamesOptions {
  const { options } = resolveOptions(
    readBuiltInSchemas().get('names') ?? {},
    {},
    { flags: new Map(), env: io.env },
  );
  // The type is generated from the same schema.
  return options as unknown as NamesOptions;
}
