import type { LogsqlFilter } from '../../../core/victoria/logsql/ast.js';
import type { EmbeddedPipe } from './ast.js';
import type { Lexer } from './lexer.js';
import { parseNumber } from '../../../core/victoria/logsql/numbers.js';
import { readFilter } from './parse-filter.js';
import { readByNames, readSortKeys } from './parse-clauses.js';
import { readMathPipe } from './parse-math.js';
import { readStats } from './parse-stats.js';
import { readCount, readFieldList, readName, readNamesInParens, readField, wrap } from './parse-tokens.js';
import { readReshapePipe } from './parse-reshape.js';
import { statsNames } from '../../../core/victoria/logsql/words-table.js';

const aliases: ReadonlyMap<string, string> = new Map([
  ['cp', 'copy'],
  ['mv', 'rename'],
  ['del', 'delete'],
  ['rm', 'delete'],
  ['drop', 'delete'],
  ['keep', 'fields'],
  ['where', 'filter'],
  ['head', 'limit'],
  ['skip', 'offset'],
  ['eval', 'math'],
  ['order', 'sort'],
]);

/** Reads one pipe after a bar. */
export function readPipe(lexer: Lexer): EmbeddedPipe {
  const word = lexer.quoted ? '' : lexer.token.toLowerCase();
  const name = aliases.get(word) ?? word;
  const pipe = wrapPipe(name, () => readNamedPipe(lexer, name) ?? readReshapePipe(lexer, name));
  if (pipe !== undefined) return pipe;
  if ([...statsNames].some((func) => func === word) || word === 'by') {
    return wrapPipe('stats', () => readStats(lexer, 'stats'));
  }
  if (/^[\p{L}\p{Nd}_.]+$/u.test(word) && !fieldFollows(lexer)) {
    const shown = JSON.stringify(lexer.token);
    throw lexer.fail(
      `unexpected pipe name ${shown}; probably, 'filter' is missing in front of ${shown}; ` +
        'see https://docs.victoriametrics.com/victorialogs/logsql/#filter-pipe',
    );
  }
  return wrap("cannot parse 'filter' pipe", () => ({ kind: 'filter', filter: readPipeFilter(lexer) }));
}

function wrapPipe<T>(name: string, read: () => T): T {
  return wrap(`cannot parse ${JSON.stringify(name)} pipe`, read);
}

function fieldFollows(lexer: Lexer): boolean {
  const state = lexer.save();
  lexer.next();
  const found = lexer.touches(':', '*');
  lexer.restore(state);
  return found;
}

function readPipeFilter(lexer: Lexer): LogsqlFilter {
  return wrap("cannot parse 'filter'", () => readFilter(lexer));
}

/** Reads pipes that select, sort and count rows; readReshapePipe reads the others. */
function readNamedPipe(lexer: Lexer, name: string): EmbeddedPipe | undefined {
  switch (name) {
    case 'fields':
    case 'delete':
      lexer.next();
      return { kind: name, fields: readFieldList(lexer) };
    case 'copy':
    case 'rename':
      return readMove(lexer, name);
    case 'sort':
      return readSort(lexer);
    case 'first':
    case 'last':
      return readEdge(lexer, name);
    case 'limit':
    case 'offset':
      return readCut(lexer, name);
    case 'stats':
    case 'running_stats':
    case 'total_stats':
      lexer.next();
      return readStats(lexer, name);
    case 'uniq':
      return readUniq(lexer);
    case 'top':
      return readTop(lexer);
    case 'filter':
      lexer.next();
      return { kind: 'filter', filter: readPipeFilter(lexer) };
    case 'math':
      return readMathPipe(lexer);
    default:
      return undefined;
  }
}

function readMove(lexer: Lexer, kind: 'copy' | 'rename'): EmbeddedPipe {
  const pairs = [];
  do {
    lexer.next();
    const from = wrap('cannot parse src field name', () => readField(lexer));
    lexer.accept('as');
    pairs.push({ from, to: wrap('cannot parse dst field name', () => readField(lexer)) });
  } while (lexer.is(','));
  return { kind, pairs };
}

function readSort(lexer: Lexer): EmbeddedPipe {
  lexer.next();
  const by = lexer.accept('by') || lexer.is('(') ? readSortKeys(lexer) : [];
  const desc = lexer.accept('desc');
  if (!desc) lexer.accept('asc');
  let partitionBy: readonly string[] = [];
  let tail: { offset?: number; limit?: number; rankAs?: string } = {};
  for (;;) {
    if (lexer.accept('offset')) tail = { ...tail, offset: readCount(lexer, 'offset') };
    else if (lexer.accept('limit')) tail = { ...tail, limit: readCount(lexer, 'limit') };
    else if (lexer.is('rank')) tail = { ...tail, rankAs: readRank(lexer) };
    else if (lexer.is('partition')) partitionBy = readPartition(lexer);
    else break;
  }
  if (partitionBy.length > 0 && tail.limit === undefined)
    throw lexer.fail("missing 'limit' for 'partition by'");
  return { kind: 'sort', by, desc, partitionBy, ...tail };
}

function readPartition(lexer: Lexer): string[] {
  lexer.next();
  lexer.accept('by');
  return wrap("cannot parse 'partition by' args", () => readNamesInParens(lexer));
}

function readRank(lexer: Lexer): string {
  lexer.next();
  const named = lexer.accept('as');
  if (!named && lexer.is('', '|', ')', ';', 'limit', 'offset', 'partition')) return 'rank';
  return wrap('cannot read rank field name', () => readName(lexer));
}

function readEdge(lexer: Lexer, kind: 'first' | 'last'): EmbeddedPipe {
  lexer.next();
  let count = 1;
  if (!lexer.is('by', 'partition', 'rank', '(', '|', ')', ';', '')) {
    count = readCount(lexer, kind);
    if (count < 1) throw lexer.fail(`the number must be bigger than 0; got ${count}`);
  }
  const by = lexer.accept('by') || lexer.is('(') ? readSortKeys(lexer) : [];
  const partitionBy = lexer.is('partition') ? readPartition(lexer) : [];
  return { kind, count, by, partitionBy, ...(lexer.is('rank') ? { rankAs: readRank(lexer) } : {}) };
}

function readCut(lexer: Lexer, kind: 'limit' | 'offset'): EmbeddedPipe {
  lexer.next();
  if (kind === 'limit' && lexer.is('|', ')', ';', '')) return { kind, count: 10 };
  const text = lexer.token;
  const count = parseNumber(text);
  if (count === undefined || count < 0 || text === '-') {
    const what = kind === 'limit' ? 'rows limit' : 'the number of rows to skip';
    throw lexer.fail(
      `cannot parse ${what} from ${JSON.stringify(text)}: cannot parse ${JSON.stringify(text)} as unsigned integer: ` +
        `strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  }
  lexer.next();
  return { kind, count: Math.min(Math.trunc(count), Number.MAX_SAFE_INTEGER) };
}

function readUniq(lexer: Lexer): EmbeddedPipe {
  lexer.next();
  const by = readByNames(lexer, ['with', 'hits', 'limit']);
  if (by.length === 0) throw lexer.fail("missing fields inside 'by(...)'");
  if (lexer.accept('with') && !lexer.is('hits')) throw lexer.fail("missing 'hits' after 'with'");
  const hits = lexer.accept('hits');
  return { kind: 'uniq', by, hits, ...(lexer.accept('limit') ? { limit: readCount(lexer, 'limit') } : {}) };
}

function readTop(lexer: Lexer): EmbeddedPipe {
  lexer.next();
  const count = !lexer.quoted && /^\d/.test(lexer.token) ? readCount(lexer, 'top') : 10;
  if (count < 1) throw lexer.fail("value N in 'top' must be integer bigger than 0");
  const by = readByNames(lexer, ['hits', 'rank']);
  if (by.length === 0) throw lexer.fail("expecting at least a single field in 'by(...)'");
  let hitsAs = 'hits';
  let rankAs: string | undefined;
  for (;;) {
    if (lexer.accept('hits')) {
      lexer.accept('as');
      hitsAs = readName(lexer);
    } else if (lexer.is('rank')) rankAs = readRank(lexer);
    else break;
  }
  while (by.includes(hitsAs)) hitsAs += 's';
  while (rankAs !== undefined && by.includes(rankAs)) rankAs += 's';
  return { kind: 'top', count, by, hitsAs, ...(rankAs === undefined ? {} : { rankAs }) };
}
