import { LogfmtReader, atEnd, atPair } from '../../../../logql/pipeline/logfmt-reader.js';
import { spaces } from '../../../../logql/template/library/characters.js';
import type { LogsqlFilter } from '../../../../victoria/logsql/ast.js';
import {
  and,
  extract,
  field,
  formatInto,
  not,
  or,
  present,
  regexp,
  substring,
} from '../../../../victoria/logsql/build.js';
import {
  labelColumn,
  paddedLine,
  textBefore,
  textBehind,
  type ParsedLabels,
  type ParsedValues,
} from './parsed-labels.js';

/**
 * The labels of `| logfmt`. A label comes from the first pair of its name, and its value represents the line if four conditions hold: the key
 * stands between a blank and `=` once, no other text can be read as such a key, the text before it ends outside of quotes, and both parsers
 * read the value alike. A line without the text of the key does not have the label, because no line is invalid.
 */
export const logfmtLabels: ParsedLabels = {
  key: 'pair-keys',
  misparsedRows: undefined,
  values: (names) => [pad, ...names.map((name) => extract(paddedLine, ` ${name}=<${labelColumn(name)}> `))],
  texts: (names) => [
    pad,
    ...names.map((name, index) =>
      extract(
        paddedLine,
        `<plain:${textBefore(index)}> ${name}=<${labelColumn(name)}> <plain:${textBehind(index)}>`,
      ),
    ),
  ],
  decided: areDecided,
  short: (names) => ({
    replaced: areDecided(names),
    pattern: names.map((name) => `${name}=<q:${labelColumn(name)}>`).join(' '),
  }),
  // An empty line would be a missing one.
  lineOf: (labels) => ['-', ...labels.map(([name, value]) => `${name}=${JSON.stringify(value)}`)].join(' '),
  valuesOf,
};

// Every pair stands between blanks. With two behind the line, the text behind a value is never empty.
const pad = formatInto(paddedLine, ' <_msg>  ');

function areDecided(names: readonly string[]): LogsqlFilter {
  return and(...names.map(isDecided));
}

function isDecided(name: string, index: number): LogsqlFilter {
  const [key, value, start, rest] = [`${name}=`, labelColumn(name), textBefore(index), textBehind(index)];
  const [isFound, blankKey] = [present(rest), ` ${key}`];
  // A key may also follow a control character, a quote, or another blank, which Loki trims.
  const isElsewhere = regexp('_msg', `[\\x00-\\x1f"${otherBlanks}]${key}`);
  const isFoundOnce = and(
    not(or(substring(rest, blankKey), field(rest, { kind: 'exact-prefix', text: key }))),
    or(and(not(substring(start, key)), not(substring(rest, key))), not(isElsewhere)),
  );
  const isOutsideQuotes = or(not(substring(start, '"')), regexp(start, closedQuotes));
  return and(
    hasNoOtherSpelling(name),
    or(
      not(substring('_msg', key)),
      and(isFound, isFoundOnce, isReadAlike(name, value), isOutsideQuotes),
      and(not(isFound), not(substring(paddedLine, blankKey)), not(isElsewhere)),
    ),
  );
}

/** Matches complete words and pairs: the quotes of every value end before a blank. */
const closedQuotes = String.raw`^(?: |[^\x00-\x20"]+(?: |$)|[^\x00-\x20="]+="(?:[^"\\]|\\.)*"(?: |$))*$`;
/** Escapes that both parsers read alike. */
const plainText = String.raw`(?:[^"\\\x00-\x1f]|\\["\\nrt])*`;

/** Matches values that end at a blank, or in quotes with common escapes. */
function isReadAlike(name: string, value: string): LogsqlFilter {
  const quotes = [`'`, '`'].map((quote) => substring(paddedLine, ` ${name}=${quote}`));
  const isBare = not(or(substring(paddedLine, ` ${name}="`), ...quotes));
  // Loki rejects an unquoted value with one of these characters.
  const isValid = not(or(substring(value, '='), substring(value, '"')));
  const hasControls = regexp(value, '[\\x00-\\x1f]');
  return or(and(isBare, isValid, not(hasControls)), regexp(paddedLine, ` ${name}="${plainText}" `));
}

/** All blanks that Loki trims from keys and that are not ASCII. */
const otherBlanks = spaces.filter((char) => char > '\x7f').join('');
const trimmedKey = `[${otherBlanks}]+=`;
const hasTrimmedKey = new RegExp(trimmedKey);

/** Matches lines without another key of this label: Loki trims blanks, and every character that labels cannot have becomes an underscore. */
function hasNoOtherSpelling(name: string): LogsqlFilter {
  const [first = '', ...parts] = name.split('_');
  const joints = parts.map(
    (part, index) => `${index === 0 ? first : parts[index - 1]}[^0-9A-Za-z_= "]${part}`,
  );
  return and(...[...joints, `${lastPart(name)}${trimmedKey}`].map((other) => not(regexp('_msg', other))));
}

function lastPart(name: string): string {
  return name.slice(name.lastIndexOf('_') + 1);
}

/** Matches lines from which `| logfmt` may make the label, and some others. */
export function mayHavePair(name: string): LogsqlFilter {
  const part = lastPart(name);
  return or(substring('_msg', `${part}=`), regexp('_msg', `${part}${trimmedKey}`));
}

/** As `mayHavePair`, for a line of a sample. */
export function mayHavePairIn(line: string, name: string): boolean {
  return line.includes(`${lastPart(name)}=`) || hasTrimmedKey.test(line);
}

function valuesOf(line: string, names: readonly string[]): ParsedValues | undefined {
  const reader = new LogfmtReader();
  const values = new Map<string, string>();
  reader.start(line);
  for (let token = reader.next(); token !== atEnd; token = reader.next()) {
    if (token !== atPair) continue;
    const key = line.slice(reader.keyFrom, reader.keyTo);
    const value = reader.unquoted ?? line.slice(reader.valueFrom, reader.valueTo);
    if (value !== '') values.set(key, value);
  }
  const isPlain = names.every((name) => line.split(`${name}=`).length <= (values.has(name) ? 2 : 1));
  return isPlain ? names.map((name) => values.get(name)) : undefined;
}
