import type { LogsqlFilter, LogsqlPipe } from '../../../../victoria/logsql/ast.js';
import {
  and,
  extract,
  field,
  fieldName,
  not,
  or,
  present,
  regexp,
  substring,
} from '../../../../victoria/logsql/build.js';
import { spaceClass as blank, spaces } from '../../../../logql/template/library/characters.js';
import { labelColumn, textBefore, textBehind, type ParsedLabels } from './parsed-labels.js';

const openNumber = '(?:[+.eE][0-9.eE+-]*|[+]?(?i:inf|nan))';
/**
 * Matches lines with numbers that the backend's JSON parser accepts and Loki's rejects. Every line contains colons, and the rest of the
 * pattern is tried at each. The first pattern tests a single character, fails for most lines, and takes a third of the time.
 */
const lenientNumberLines: LogsqlFilter = and(
  regexp('_msg', ':[ \\t\\r\\n+.eEiInN]'),
  regexp('_msg', `:[ \\t\\r\\n]*${openNumber}[ \\t\\r\\n]*[,}\\]]`),
);

/**
 * A label comes from the only key of its name at the top level of an object. Its value represents the line if three conditions hold: the
 * backend has found the key, the text that every spelling of such a key starts with occurs once in the line, and only quotes and slashes
 * are escaped. Then no other key can produce the label. A line without that text does not have the label if it is valid JSON, which another
 * label proves.
 */
export const jsonLabels: ParsedLabels = {
  key: 'json-keys',
  misparsedRows: lenientNumberLines,
  values: (names) => [findValues(names)],
  texts: findKeys,
  decided: areDecided,
  short: (names) => ({
    replaced: and(
      hasPlainEscapes,
      ...names.map((name, index) => and(isFoundOnce(name, index), hasNoBlanks(name, index))),
    ),
    pattern: `{${names.map((name) => `"${name}":<q:${labelColumn(name)}>`).join(',')}}`,
  }),
  lineOf: (labels) => JSON.stringify(Object.fromEntries(labels)),
  groupOf,
};

/** Matches text whose only escapes cannot be part of a key or of blanks around it, and that all parsers read alike. */
const plainEscapes = String.raw`^(?:[^\\]|\\["\\/])*$`;
const hasPlainEscapes = or(not(substring('_msg', '\\')), regexp('_msg', plainEscapes));

function areDecided(names: readonly string[]): LogsqlFilter {
  return and(
    hasPlainEscapes,
    or(...names.map((name) => present(labelColumn(name)))),
    ...names.map((name, index) =>
      and(
        or(isFoundOnce(name, index), and(not(present(labelColumn(name))), not(present(textBehind(index))))),
        hasNoBlanks(name, index),
      ),
    ),
  );
}

function findValues(names: readonly string[]): LogsqlPipe {
  const prefix = labelColumn('');
  return { kind: 'unpack_json', from: '_msg', fields: names.map(fieldName), prefix, rule: 'overwrite' };
}

/** Extracts the values, and the text before and after the first occurrence of a possible key. */
function findKeys(names: readonly string[]): readonly LogsqlPipe[] {
  return [
    findValues(names),
    ...names.map((name, index) =>
      extract('_msg', `<plain:${textBefore(index)}>${startOf(name)}<plain:${textBehind(index)}>`),
    ),
  ];
}

function isFoundOnce(name: string, index: number): LogsqlFilter {
  const [value, rest] = [labelColumn(name), textBehind(index)];
  // Values that start like this may be arrays, which do not make labels.
  const isText = not(field(value, { kind: 'exact-prefix', text: '[' }));
  return and(present(value), isText, present(rest), not(substring(rest, startOf(name))));
}

/**
 * Matches lines without blanks around a key, which Loki trims. The search is needed only if the text of the key also occurs elsewhere in
 * the line. The pattern is limited to lines with a blank beside that text: a pattern that starts with a quote is tried at every quote,
 * which takes ten times as long.
 */
function hasNoBlanks(name: string, index: number): LogsqlFilter {
  const [first = name] = name.split('_');
  const isPart = first !== name;
  const [start, rest] = [textBefore(index), textBehind(index)];
  const isAlone = and(
    not(substring(start, first)),
    not(substring(rest, first)),
    or(present(rest), not(substring('_msg', first))),
  );
  const key = isPart ? `${blank}+${first}` : `(?:${blank}+${first}${blank}*|${first}${blank}+)"`;
  const hasBlank = or(
    ...spaces.map((char) => substring('_msg', char + first)),
    ...(isPart ? [] : [regexp('_msg', first + blank)]),
  );
  return or(isAlone, not(and(hasBlank, regexp('_msg', `"${key}`))));
}

/** The start of every key that produces this label: nesting and special characters become underscores. */
function startOf(name: string): string {
  const [first = name, ...others] = name.split('_');
  return others.length === 0 ? `"${name}"` : `"${first}`;
}

function hasOnlyPlainEscapes(line: string): boolean {
  for (let at = line.indexOf('\\'); at >= 0; at = line.indexOf('\\', at + 2))
    if (!'"\\/'.includes(line.charAt(at + 1) || 'none')) return false;
  return true;
}

function groupOf(line: string, names: readonly string[]): string {
  if (!hasOnlyPlainEscapes(line)) return line;
  let object: unknown;
  try {
    object = JSON.parse(line);
  } catch {
    return line;
  }
  if (typeof object !== 'object' || object === null) return line;
  const keys = new Map<string, unknown>(Object.entries(object));
  const isPlain = names.every((name) => line.split(startOf(name)).length <= (keys.has(name) ? 2 : 1));
  return isPlain ? JSON.stringify(names.map((name) => keys.get(name))) : line;
}
