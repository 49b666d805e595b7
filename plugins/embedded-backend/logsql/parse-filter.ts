import type { FieldRef, LogsqlFilter } from '../../../core/victoria/logsql/ast.js';
import type { Lexer } from './lexer.js';
import { readStreamFilter } from './parse-stream.js';
import { readTest } from './parse-test.js';
import { readTimeFilter } from './parse-time.js';
import { canonicalName, cannotStart, readCompound } from './parse-tokens.js';
import { pipeWords } from '../../../core/victoria/logsql/words-table.js';

const phraseEnds = ['*', ',', '(', ')', '[', ']', '|', ';', ''];
const filterEnds = ['|', ')', ';', ''];
// Characters that would join a word if the space or colon before them was forgotten.
const gluedSigns = ['=', '!=', '=~', '!~', '~', '<', '>', '(', '{', '!', '"', "'", '`'];

/** Reads a filter up to a bar, a closing parenthesis or the end. */
export function readFilter(lexer: Lexer): LogsqlFilter {
  if (lexer.is(...filterEnds)) throw lexer.fail('missing query');
  if (!lexer.quoted && pipeWords.has(lexer.token.toLowerCase()) && !isFieldAhead(lexer)) {
    throw lexer.fail(
      `query filter cannot start with pipe keyword ${JSON.stringify(lexer.token.toLowerCase())}; ` +
        'see https://docs.victoriametrics.com/victorialogs/logsql/#query-syntax; ' +
        'please put the first word of the filter into quotes',
    );
  }
  return readOr(lexer, undefined);
}

function isFieldAhead(lexer: Lexer): boolean {
  const state = lexer.save();
  lexer.next();
  const found = lexer.is(':');
  lexer.restore(state);
  return found;
}

function readOr(lexer: Lexer, field: FieldRef | undefined): LogsqlFilter {
  const parts: LogsqlFilter[] = [];
  for (;;) {
    parts.push(readAnd(lexer, field));
    if (!lexer.is('or')) break;
    step(lexer);
  }
  const [first] = parts;
  return parts.length === 1 && first !== undefined ? first : { kind: 'or', parts };
}

function readAnd(lexer: Lexer, field: FieldRef | undefined): LogsqlFilter {
  const parts: LogsqlFilter[] = [];
  for (;;) {
    parts.push(readOne(lexer, field));
    if (lexer.is('or', ...filterEnds)) break;
    if (lexer.is('and')) step(lexer);
  }
  const [first] = parts;
  return parts.length === 1 && first !== undefined ? first : { kind: 'and', parts };
}

// Skips a word that a filter must follow.
function step(lexer: Lexer): void {
  const seen = lexer.token;
  lexer.next();
  if (lexer.atEnd)
    throw lexer.fail(`unexpected end of query after ${JSON.stringify(seen)}; expecting a filter`);
}

/** Reads one filter: a negation, parentheses, a stream selector, `field:test` or a test on the given field or `_msg`. */
function readOne(lexer: Lexer, field: FieldRef | undefined): LogsqlFilter {
  return lexer.nested(() => readOneHere(lexer, field));
}

function readOneHere(lexer: Lexer, field: FieldRef | undefined): LogsqlFilter {
  if (lexer.is('{')) {
    if (field !== undefined && !(field.kind === 'name' && field.name === '_stream')) {
      throw lexer.fail(`stream filter can be applied only to _stream field`);
    }
    return readStreamFilter(lexer);
  }
  if (lexer.is(':')) {
    step(lexer);
    return readOne(lexer, field);
  }
  if (lexer.is('not', '!', '-')) {
    step(lexer);
    return { kind: 'not', filter: readOne(lexer, field) };
  }
  if (lexer.is('(')) return readParens(lexer, field);
  if (lexer.is('*')) {
    const all = readStar(lexer, field);
    if (all !== undefined) return all;
  }
  if (lexer.is('!=') && field === undefined && isWord(lexer.previous)) {
    throw lexer.fail(
      'missing \':\' in front of "!="; see https://docs.victoriametrics.com/victorialogs/logsql/#filters',
    );
  }
  const negated = lexer.is('!=', '!~');
  const test = readTest(lexer);
  if (test !== undefined) {
    const found: LogsqlFilter = { kind: 'field', field: field ?? { kind: 'name', name: '_msg' }, test };
    return negated ? { kind: 'not', filter: found } : found;
  }
  return readPhrase(lexer, field);
}

function isWord(token: string): boolean {
  return (
    token !== '' && !['(', ':', 'and', 'or', 'not', '!', '-', '}', ')', '|'].includes(token.toLowerCase())
  );
}

function readParens(lexer: Lexer, field: FieldRef | undefined): LogsqlFilter {
  step(lexer);
  const inner = readOr(lexer, field);
  if (!lexer.accept(')')) throw lexer.fail(`missing ')'; got ${JSON.stringify(lexer.token)}`);
  return inner;
}

/** Reads `*` if it is a separate filter or a field prefix; does not consume `*text*`. */
function readStar(lexer: Lexer, field: FieldRef | undefined): LogsqlFilter | undefined {
  const state = lexer.save();
  lexer.next();
  if (lexer.touches(':') && field === undefined) {
    step(lexer);
    return readOne(lexer, { kind: 'prefix', prefix: '' });
  }
  if (lexer.spaceBefore || lexer.is(...filterEnds) || lexer.atEnd) {
    if (field === undefined) return { kind: 'all' };
    return { kind: 'field', field, test: { kind: 'prefix', text: '' } };
  }
  lexer.restore(state);
  return undefined;
}

/** Reads a word or a string: a phrase, a prefix `text*`, or a field name before a colon. */
function readPhrase(lexer: Lexer, field: FieldRef | undefined): LogsqlFilter {
  const text = readPhraseText(lexer, field !== undefined);
  if (lexer.touches('*')) {
    lexer.next();
    if (lexer.touches(':') && field === undefined) {
      step(lexer);
      return readOne(lexer, { kind: 'prefix', prefix: text });
    }
    return fieldFilter(field, { kind: 'prefix', text });
  }
  if (field !== undefined || !lexer.is(':')) return fieldFilter(field, { kind: 'phrase', text });
  lexer.next();
  if (lexer.atEnd) throw lexer.fail(`missing filter after field name ${text}`);
  const name = canonicalName(text);
  if (name === '_time') return readTimeFilter(lexer);
  return readOne(lexer, { kind: 'name', name });
}

function fieldFilter(
  field: FieldRef | undefined,
  test: { kind: 'phrase' | 'prefix'; text: string },
): LogsqlFilter {
  return { kind: 'field', field: field ?? { kind: 'name', name: '_msg' }, test };
}

function readPhraseText(lexer: Lexer, mayHoldColon: boolean): string {
  if (lexer.is(...phraseEnds, '"', "'", '`')) throw cannotStart(lexer);
  const text = readCompound(lexer, [...phraseEnds, ...gluedSigns, ...(mayHoldColon ? [] : [':'])]);
  const glued = lexer.touches(...gluedSigns);
  if (glued) {
    const sign = JSON.stringify(lexer.token);
    throw lexer.fail(
      `missing whitespace or ':' between ${JSON.stringify(text)} and ${sign}; probably, the whole string must be put into quotes`,
    );
  }
  if (lexer.is(',', '[', ']')) throw lexer.fail(`unexpected token ${JSON.stringify(lexer.token)}`);
  return text;
}
