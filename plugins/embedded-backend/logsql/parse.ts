import type { LogsqlFilter } from '../../../core/victoria/logsql/ast.js';
import type { EmbeddedPipe, EmbeddedQuery, QueryOptions } from './ast.js';
import { LogsqlError } from '../../../core/victoria/logsql/errors.js';
import { Lexer } from './lexer.js';
import { parseDurationNs } from '../../../core/victoria/logsql/numbers.js';
import { readFilter } from './parse-filter.js';
import { readPipe } from './parse-pipes.js';
import { readCompound, wrap } from './parse-tokens.js';

/**
 * Parses a query; comments and one final `;` are allowed.
 * @throws LogsqlError with VictoriaLogs' reason and the text up to the error
 */
export function parseLogsql(text: string): EmbeddedQuery {
  const lexer = new Lexer(text, readQuery);
  let result: EmbeddedQuery;
  try {
    result = readQuery(lexer);
  } catch (error) {
    if (!(error instanceof LogsqlError)) throw error;
    throw new LogsqlError(`${error.message}; context: [${lexer.context}]`);
  }
  lexer.accept(';');
  if (lexer.atEnd) return result;
  throw new LogsqlError(
    `unexpected token ${JSON.stringify(lexer.token)} after the query; context: [${lexer.context}]`,
  );
}

/**
 * Parses a filter without pipes.
 * @throws LogsqlError as parseLogsql does
 */
export function parseFilter(text: string): LogsqlFilter {
  const query = parseLogsql(text);
  if (query.pipes.length === 0) return query.filter;
  throw new LogsqlError('unexpected pipes after the filter');
}

/** Reads options, filter and pipes up to a closing parenthesis or the end. */
function readQuery(lexer: Lexer): EmbeddedQuery {
  const options = wrap('cannot parse query options', () => readOptions(lexer));
  const filter = readFilter(lexer);
  const pipes: EmbeddedPipe[] = [];
  while (lexer.accept('|')) {
    pipes.push(readPipe(lexer));
    if (!lexer.is('|', ')', ';', '')) {
      throw lexer.fail(
        `unexpected token ${JSON.stringify(lexer.token)} after the pipe; expecting '|', ';' or ')'`,
      );
    }
  }
  return { ...(Object.keys(options).length === 0 ? {} : { options }), filter, pipes };
}

function readOptions(lexer: Lexer): QueryOptions {
  if (!lexer.is('options')) return {};
  const state = lexer.save();
  lexer.next();
  if (lexer.is(':')) {
    lexer.restore(state);
    return {};
  }
  if (!lexer.accept('(')) {
    throw lexer.fail(
      "missing '(' after 'options' keyword; wrap 'options' into quotes if you are searching for this word in the log message",
    );
  }
  let options: QueryOptions = {};
  while (!lexer.accept(')')) {
    options = { ...options, ...readOption(lexer) };
    if (lexer.is(')')) continue;
    if (!lexer.accept(',')) {
      throw lexer.fail(
        `unexpected token inside the 'options(...)': ${JSON.stringify(lexer.token)}; want ',' or ')'`,
      );
    }
  }
  return options;
}

const optionEnds = ['=', ',', '(', ')', '[', ']', '|', ''];

function readOption(lexer: Lexer): QueryOptions {
  const name = readCompound(lexer, optionEnds);
  if (!lexer.accept('=')) throw lexer.fail(`missing '=' after ${JSON.stringify(name)}`);
  const value = readCompound(lexer, optionEnds);
  switch (name) {
    case 'concurrency':
      return { concurrency: optionCount(lexer, name, value) };
    case 'parallel_readers':
      return { parallelReaders: optionCount(lexer, name, value) };
    case 'ignore_global_time_filter':
      return { ignoreGlobalTimeFilter: optionBool(lexer, name, value) };
    case 'allow_partial_response':
      return { allowPartialResponse: optionBool(lexer, name, value) };
    case 'time_offset': {
      const timeOffset = parseDurationNs(value);
      if (timeOffset !== undefined) return { timeOffset };
      throw lexer.fail(`cannot parse 'time_offset=${JSON.stringify(value)}' option as duration`);
    }
    default:
      throw lexer.fail(`unexpected option inside 'options': ${JSON.stringify(name)}`);
  }
}

function optionCount(lexer: Lexer, name: string, value: string): number {
  if (/^\d{1,9}$/.test(value)) return Number(value);
  throw lexer.fail(`cannot parse '${name}=${JSON.stringify(value)}' option as unsigned integer`);
}

function optionBool(lexer: Lexer, name: string, value: string): boolean {
  if (['1', 't', 'T', 'true', 'TRUE', 'True'].includes(value)) return true;
  if (['0', 'f', 'F', 'false', 'FALSE', 'False'].includes(value)) return false;
  throw lexer.fail(`cannot parse '${name}=${JSON.stringify(value)}' option as boolean`);
}
