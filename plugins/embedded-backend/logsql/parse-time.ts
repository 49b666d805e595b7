import type { LogsqlFilter } from '../../../core/victoria/logsql/ast.js';
import type { Lexer } from './lexer.js';
import { parseDurationNs } from '../../../core/victoria/logsql/numbers.js';
import { readCompound, wrap } from './parse-tokens.js';
import { parseDate, type ParsedTime } from '../../../core/victoria/logsql/literals.js';
import { parseUnixTime } from './unix-time.js';

/** Reads the part after `_time:`. */
export function readTimeFilter(lexer: Lexer): LogsqlFilter {
  const found = lexer.is('offset') ? everBefore(0n) : readRange(lexer);
  if (!lexer.is('offset')) return found;
  lexer.next();
  const offset = readDuration(lexer, 'cannot parse offset for _time filter');
  switch (found.kind) {
    case 'time-relative':
      return { ...found, offset: found.offset + offset };
    case 'time':
      return {
        kind: 'time',
        ...(found.min === undefined ? {} : { min: found.min - offset }),
        ...(found.max === undefined ? {} : { max: found.max - offset }),
      };
    default:
      return found;
  }
}

function everBefore(offset: bigint): LogsqlFilter {
  return { kind: 'time-relative', offset };
}

function readRange(lexer: Lexer): LogsqlFilter {
  if (lexer.is('>', '<')) return readOneSided(lexer);
  if (lexer.is('[', '(')) return readInterval(lexer);
  lexer.accept('=');
  if (isTimestamp(lexer)) {
    const time = readTime(lexer, 'cannot parse _time filter');
    return { kind: 'time', min: time.ns, max: time.last };
  }
  const duration = readDuration(lexer, 'cannot parse duration at _time filter');
  return { kind: 'time-relative', duration: duration < 0n ? -duration : duration, offset: 0n };
}

function isTimestamp(lexer: Lexer): boolean {
  return /^\d{4}(?:$|[-+Zz\d])/.test(lexer.token) && parseDurationNs(lexer.token) === undefined;
}

function readOneSided(lexer: Lexer): LogsqlFilter {
  const after = lexer.is('>');
  lexer.next();
  const included = lexer.accept('=');
  if (isTimestamp(lexer)) {
    const time = readTime(lexer, `cannot parse ${after ? 'start' : 'end'} time in _time filter`);
    if (after) return { kind: 'time', min: included ? time.ns : time.ns + 1n };
    return { kind: 'time', max: included ? time.last : time.ns - 1n };
  }
  // Here a duration is an age: ">5m" matches rows older than five minutes.
  const age = readDuration(lexer, 'cannot parse duration at _time filter');
  const size = age < 0n ? -age : age;
  if (after) return everBefore(included ? size - 1n : size);
  return { kind: 'time-relative', duration: included ? size : size - 1n, offset: 0n };
}

function readInterval(lexer: Lexer): LogsqlFilter {
  const minIncluded = lexer.is('[');
  lexer.next();
  const start = readTime(lexer, 'cannot parse start time in _time filter');
  if (!lexer.is(',')) {
    throw lexer.fail(
      `unexpected token after start time in _time filter: ${JSON.stringify(lexer.token)}; want ','`,
    );
  }
  lexer.next();
  const end = readTime(lexer, 'cannot parse end time in _time filter');
  if (!lexer.is(']', ')')) {
    throw lexer.fail(
      `_time filter ends with unexpected token ${JSON.stringify(lexer.token)}; it must end with ']' or ')'`,
    );
  }
  const maxIncluded = lexer.is(']');
  lexer.next();
  return {
    kind: 'time',
    min: minIncluded ? start.ns : start.ns + 1n,
    max: maxIncluded ? end.last : end.ns - 1n,
  };
}

function readTime(lexer: Lexer, prefix: string): ParsedTime {
  return wrap(prefix, () => {
    const text = readCompound(lexer);
    const date = parseDate(text);
    // Four digits are a year, more digits are Unix time.
    if (date !== undefined) return date;
    const ns = parseUnixTime(text);
    if (ns === undefined) throw lexer.fail(`cannot parse ${JSON.stringify(text)}`);
    return { ns, last: ns };
  });
}

function readDuration(lexer: Lexer, prefix: string): bigint {
  return wrap(prefix, () => {
    const text = readCompound(lexer);
    const duration = parseDurationNs(text);
    if (duration === undefined) throw lexer.fail(`cannot parse duration ${JSON.stringify(text)}`);
    return duration;
  });
}
