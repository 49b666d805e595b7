import { Query } from '../api/query.js';
import type { QueryRangeRequest } from '../api/request.js';
import { LogqlError } from '../logql/index.js';
import { Naming } from '../names/naming.js';
import { readBuiltInSchemas, resolveOptions, UsageError } from '../options/index.js';
import type { NamesOptions } from '../options/options.gen.js';
import { ApiError } from '../errors/api-error.js';
import { planRequest } from '../plan/request.js';
import type { Io } from './io.js';
import { plainHelp, readPlainArgs } from './own-flags.js';

/** Prints what a query becomes under the default names: the parts the backend does and the parts left to this program, as JSON. */
export function explain(args: readonly string[], io: Io): Promise<number> {
  const { positionals, wantsHelp } = readPlainArgs(args, []);
  if (wantsHelp) {
    io.out(plainHelp("explain 'QUERY'", []));
    return Promise.resolve(0);
  }
  const [text, ...others] = positionals;
  if (text === undefined || others.length > 0) throw new UsageError(['explain takes one query, in quotes']);
  try {
    const naming = new Naming(defaultNames(io));
    const query = new Query(text, naming.dottedNames);
    io.out(
      `${JSON.stringify({ query: text, plan: planRequest(requestOf(query), naming) }, plainValue, 2)}\n`,
    );
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

/** A plan does not depend on the range, so any will do. */
function requestOf(query: Query): QueryRangeRequest {
  const range = { startNs: 0n, endNs: 0n };
  return { op: 'query_range', query, range, stepNs: 1n, limit: 100, direction: 'backward', intervalNs: 0n };
}

function plainValue(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
