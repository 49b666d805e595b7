import type { LabelPath } from '../../../../logql/stages/stage.js';
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
import { addTo } from '../../../../base/order.js';
import type { Steps } from '../../../../base/pace/steps.js';
import { flattenJson } from '../../../../victoria/logsql/eval/json.js';
import { spaceClass as blank, spaces } from '../../../../logql/template/library/characters.js';
import {
  labelColumn,
  linesNotStartingWith,
  restricted,
  textBefore,
  textBehind,
  type ParsedLabels,
  type ParsedValues,
} from './parsed-labels.js';

const openNumber = '(?:[+.eE][0-9.eE+-]*|[+]?(?i:inf|nan))';
/**
 * Matches lines with numbers that the backend's JSON parser accepts and Loki's rejects. Every line contains colons, and the rest of the
 * pattern is tried at each. The first pattern tests a single character, fails for most lines, and takes a third of the time.
 */
const lenientNumberLines: LogsqlFilter = and(
  regexp('_msg', ':[ \\t\\r\\n+.eEiInN]'),
  regexp('_msg', `:[ \\t\\r\\n]*${openNumber}[ \\t\\r\\n]*[,}\\]]`),
);

/** The way in which lines write the key of a label. */
interface JsonKey {
  readonly name: string;
  /** The path of the key, joined by dots, which is what the backend calls the field. */
  readonly field: string;
  /** A text that each key of this label has in it: its start or its end, all of it, or all with a colon. */
  readonly text: string;
  readonly part: 'start' | 'end' | 'all' | 'key';
  /** Texts in keys that the backend does not tell from those on the path. */
  readonly mistakable: readonly string[];
}

/** Lines that `| json` does not take for objects: those start with a brace, or with blanks before it. */
export const noObjects = linesNotStartingWith(['{', ' ', '\t', '\n', '\r']);

/**
 * The labels of `| json`. A label comes from the only key of its name: at the top level of an object, or on a path of keys whose names add
 * up to it. Its value represents the line if three conditions hold: the backend has found the key, a text that every spelling of such a key
 * has in it occurs once in the line, and no escape can hide a key (`hasPlainEscapes`). Then no other key can produce the label. A line without
 * that text does not have the label if it is valid JSON, which another label proves, or a field that most lines have.
 */
export const jsonLabels: ParsedLabels = labelsOfNames([], []);

/**
 * The labels of `| json` with a path for each, which is followed to the first value; other keys of the name do not matter. Unlike `| json`
 * alone it fails for lines that start with a blank.
 */
export function jsonPathLabels(given: readonly LabelPath[]): ParsedLabels {
  return labelsOfPaths(given, []);
}

/** @param common the field that most lines have (`commonField`) */
function labelsOfPaths(given: readonly LabelPath[], common: readonly string[]): ParsedLabels {
  const paths = new Map(given);
  const keys = given.map(([name, path]): JsonKey => {
    const mistakable = ['"":', ...path.slice(1).map((step) => `.${step}":`)];
    return { name, field: path.join('.'), text: `"${path.at(-1) ?? ''}":`, part: 'key', mistakable };
  });
  const labels = labelsOfKeys(keys, common);
  const known = (names: readonly string[]): readonly string[] => names.filter((name) => paths.has(name));
  const ofLines: ParsedLabels = {
    ...labels,
    *fittedTo(lines, names) {
      const objects = yield* readJsonLines(lines);
      return labelsOfPaths(given, yield* commonField(objects, labels.keysOf(known(names))));
    },
    values: (names) => labels.values(known(names)),
    texts: (names) => labels.texts(known(names)),
    decided: (names) => labels.decided(known(names)),
    lineOf: (found) => writtenOut(found.map(([name, value]) => [paths.get(name) ?? [], value] as const)),
    valuesOf(line, names) {
      const values = labels.valuesOf(line, known(names));
      return (
        values && names.map((name) => (paths.has(name) ? values[known(names).indexOf(name)] : undefined))
      );
    },
  };
  return restricted(ofLines, {
    key: labels.key,
    isDecided: () => field('_msg', { kind: 'exact-prefix', text: '{' }),
    mayDiffer: (line) => !line.startsWith('{'),
    // Paths are also followed in arrays, and behind a text.
    unparsed: linesNotStartingWith(['{', '[', '"']),
  });
}

/** An object with a value at the end of each path. */
function writtenOut(values: readonly (readonly [path: readonly string[], value: string])[]): string {
  const members = new Map<string, (readonly [path: readonly string[], value: string])[]>();
  for (const [[key = '', ...path], value] of values) {
    addTo(members, key, [path, value] as const);
  }
  const written = [...members].map(([key, below]) => {
    const [[path, value] = [[], '']] = below;
    return `${JSON.stringify(key)}:${path.length === 0 ? JSON.stringify(value) : writtenOut(below)}`;
  });
  return `{${written.join(',')}}`;
}

/**
 * @param keys those that lines do not write as their names are
 * @param common the field that most lines have (`commonField`)
 */
function labelsOfNames(keys: readonly JsonKey[], common: readonly string[]): ParsedLabels {
  const labels = labelsOfKeys(keys, common);
  return {
    ...labels,
    *fittedTo(lines, names) {
      const objects = yield* readJsonLines(lines);
      const written = yield* writtenKeys(objects, names);
      return labelsOfNames(written, yield* commonField(objects, labelsOfKeys(written, []).keysOf(names)));
    },
    unparsed: noObjects,
    short: (names) => ({
      replaced: and(
        hasPlainEscapes,
        ...labels.keysOf(names).map((key, index) => and(isFoundOnce(key, index), hasNoBlanks(key, index))),
      ),
      pattern: `{${names.map((name) => `"${name}":<q:${labels.columnOf(name)}>`).join(',')}}`,
    }),
    lineOf: (found) => JSON.stringify(Object.fromEntries(found)),
  };
}

interface KeyLabels extends Omit<ParsedLabels, 'lineOf'> {
  keysOf(names: readonly string[]): readonly JsonKey[];
  columnOf(name: string): string;
}

/**
 * @param given the keys of labels; those of all other labels are their names
 * @param common the field that most lines have, which proves that a line without any of the labels is valid JSON
 */
function labelsOfKeys(given: readonly JsonKey[], common: readonly string[]): KeyLabels {
  const known = new Map(given.map((key) => [key.name, key]));
  const keyOf = (name: string): JsonKey => known.get(name) ?? keysNamed(name, name)[0];
  const keysOf = (names: readonly string[]): readonly JsonKey[] => names.map(keyOf);
  return {
    key: `json-keys ${JSON.stringify([given, ...common])}`,
    misparsedRows: lenientNumberLines,
    keysOf,
    columnOf: (name) => labelColumn(keyOf(name).field),
    values: (names) => [findValues(keysOf(names), [])],
    texts: (names) => findKeys(keysOf(names), common),
    decided: (names) => areDecided(keysOf(names), common),
    valuesOf: (line, names) => valuesOf(line, keysOf(names)),
  };
}

/** The texts to look for: nesting and special characters become underscores, so only the parts between them are in every such key. */
function keysNamed(name: string, field: string): readonly [JsonKey, JsonKey?] {
  const parts = name.split('_');
  const [first = '', last = ''] = [parts[0], parts.at(-1)];
  const key = { name, field, mistakable: [] };
  if (parts.length === 1) return [{ ...key, text: `"${name}"`, part: 'all' }];
  const start = { ...key, text: `"${first}`, part: 'start' } as const;
  const end = { ...key, text: `${last}":`, part: 'end' } as const;
  if (first === '') return [end];
  return last === '' ? [start] : [start, end];
}

/** Fields that need no escapes in any part of a query. */
const plainField = /^[\w./@-]+$/;

/** Maximum number of characters of a sample that are parsed to find out how lines write keys. */
const maxParsed = 1 << 20;

/** The lines as objects; of long ones every second, third and so on. */
function* readJsonLines(lines: readonly string[]): Steps<readonly JsonLine[]> {
  const length = lines.reduce((sum, line) => sum + line.length, 0);
  const step = Math.max(1, Math.ceil(length / maxParsed));
  const objects: JsonLine[] = [];
  for (const [index, line] of lines.entries()) {
    yield;
    if (index % step === 0) objects.push(readJsonLine(line));
  }
  return objects;
}

/** The field that most of the objects have; none unless there are objects without any of these keys. */
function* commonField(objects: readonly JsonLine[], keys: readonly JsonKey[]): Steps<readonly string[]> {
  const counts = new Map<string, number>();
  let isNeeded = false;
  for (const { values = new Map<string, string>() } of objects) {
    yield;
    isNeeded ||= values.size > 0 && keys.every(({ field }) => (values.get(field) ?? '') === '');
    for (const [field, value] of values)
      if (value !== '' && plainField.test(field)) counts.set(field, (counts.get(field) ?? 0) + 1);
  }
  const [most] = [...counts].sort(([, a], [, b]) => b - a);
  return isNeeded && most !== undefined ? [most[0]] : [];
}

/** The keys by which most of the objects write these labels, of those that are not found by the names themselves. */
function* writtenKeys(objects: readonly JsonLine[], names: readonly string[]): Steps<readonly JsonKey[]> {
  const joined = names.filter((name) => name.includes('_'));
  if (joined.length === 0) return [];
  const fields = new Map(joined.map((name) => [name, new Map<string, number>()]));
  for (const { values } of objects) {
    yield;
    for (const field of values?.keys() ?? []) {
      const counts = plainField.test(field) ? fields.get(field.replace(/[^A-Za-z0-9_]/g, '_')) : undefined;
      counts?.set(field, (counts.get(field) ?? 0) + 1);
    }
  }
  const found: JsonKey[] = [];
  for (const [name, counts] of fields) {
    const [[field] = [name]] = [...counts].sort(([, a], [, b]) => b - a);
    const [start, end] = keysNamed(name, field);
    const isEndBetter =
      end !== undefined && (yield* countDecided(objects, end)) > (yield* countDecided(objects, start));
    if (isEndBetter) found.push(end);
    else if (field !== name) found.push(start);
  }
  return found;
}

/** The number of lines whose label the key decides. */
function* countDecided(lines: readonly JsonLine[], key: JsonKey): Steps<number> {
  let count = 0;
  for (const line of lines) {
    yield;
    if (isDecidedBy(line, key)) count += 1;
  }
  return count;
}

const jsonBlank = '[ \\t\\r\\n]';

/** Escapes that all parsers read alike: not those of controls, of halves of a character, and of characters that Loki removes. */
const hex = '[0-9a-fA-F]';
const character = `u(?:00[2-9a-fA-F]${hex}|0[1-9a-fA-F]${hex}{2}|[1-9a-cA-CeE]${hex}{3}|[dD][0-7]${hex}{2})`;
const plainEscape = `\\\\(?:["\\\\/nrt]|${character})`;
const onlyPlainEscapes = `^(?:[^\\\\]|${plainEscape})*$`;
/**
 * A backslash before anything else, which may be the second of an escaped backslash. The backend finds it ten times as fast as it matches the
 * whole line.
 */
const otherCharacter = `u(?:00[01]|[dD][89a-fA-F]|[fF]|${hex}{0,3}(?:[^0-9a-fA-F]|$))`;
const otherEscape = `\\\\(?:[^"\\\\/nrtu]|${otherCharacter}|$)`;
/** Escapes of characters that a key may have, or that Loki trims from a key. Other texts in a key are found as they are written. */
const lettersAndBlanks = ['\\u', '\\n', '\\r', '\\t'];
const escapeInKey = `\\\\[unrt](?:[^"\\\\]|\\\\.)*"${jsonBlank}*:`;
/** Matches lines whose escapes all parsers read alike, and whose keys are written without escapes of letters and blanks. */
const hasPlainEscapes = or(
  not(substring('_msg', '\\')),
  and(
    or(not(regexp('_msg', otherEscape)), regexp('_msg', onlyPlainEscapes)),
    or(
      not(or(...lettersAndBlanks.map((escape) => substring('_msg', escape)))),
      not(regexp('_msg', escapeInKey)),
    ),
  ),
);

function areDecided(keys: readonly JsonKey[], common: readonly string[]): LogsqlFilter {
  const isPresent = ({ field: path }: JsonKey): LogsqlFilter => present(labelColumn(path));
  return and(
    hasPlainEscapes,
    or(...keys.map(isPresent), ...common.map((path) => present(labelColumn(path)))),
    ...keys.map((key, index) =>
      and(
        or(isFoundOnce(key, index), and(not(isPresent(key)), not(present(textBehind(index))))),
        hasNoBlanks(key, index),
      ),
    ),
  );
}

function findValues(keys: readonly JsonKey[], common: readonly string[]): LogsqlPipe {
  const fields = [...keys.map(({ field: path }) => path), ...common].map(fieldName);
  return { kind: 'unpack_json', from: '_msg', fields, prefix: labelColumn('') };
}

/** Extracts the values, and the text before and after the first occurrence of a possible key. */
function findKeys(keys: readonly JsonKey[], common: readonly string[]): readonly LogsqlPipe[] {
  return [
    findValues(keys, common),
    ...keys.map(({ text }, index) =>
      extract('_msg', `<plain:${textBefore(index)}>${text}<plain:${textBehind(index)}>`),
    ),
  ];
}

function isFoundOnce({ field: path, text, mistakable }: JsonKey, index: number): LogsqlFilter {
  const [value, rest] = [labelColumn(path), textBehind(index)];
  // Values that start like this may be arrays, which do not make labels.
  const isText = not(field(value, { kind: 'exact-prefix', text: '[' }));
  const areOthers = or(...mistakable.map((other) => substring('_msg', other)));
  return and(present(value), isText, present(rest), not(substring(rest, text)), not(areOthers));
}

/**
 * Matches lines without blanks around a key, which Loki trims, or behind it. The search is needed only if the text of the key also occurs
 * elsewhere in the line. A pattern that starts with a quote is tried at every quote, which takes ten times as long, so it is limited to
 * lines with blanks beside that text.
 */
function hasNoBlanks({ text, part }: JsonKey, index: number): LogsqlFilter {
  const word = text.replaceAll(/[":]/g, '');
  const [start, rest] = [textBefore(index), textBehind(index)];
  const isAlone = and(
    not(substring(start, word)),
    not(substring(rest, word)),
    or(present(rest), not(substring('_msg', word))),
  );
  const follows = (starts: readonly string[], end: string): LogsqlFilter =>
    or(...starts.map((char) => substring('_msg', char + end)));
  // Words often stand behind a space, which in turn is rarely behind a quote or another blank.
  const blankBefore = or(
    and(substring('_msg', ` ${word}`), follows(['"', ...spaces], ` ${word}`)),
    follows(
      spaces.filter((char) => char !== ' '),
      word,
    ),
  );
  const hasBlanks = {
    start: and(blankBefore, regexp('_msg', `"${blank}+${word}`)),
    end: regexp('_msg', `${word}(?:${blank}+"${blank}*|"${blank}+):`),
    key: regexp('_msg', `"${word}"${jsonBlank}+:`),
    all: and(
      or(blankBefore, regexp('_msg', word + blank)),
      regexp('_msg', `"(?:${blank}+${word}${blank}*|${word}${blank}+)"`),
    ),
  };
  return or(isAlone, not(hasBlanks[part]));
}

const plainEscapeHere = new RegExp(plainEscape, 'y');
const stringAndColon = new RegExp(`"((?:[^"\\\\]|\\\\.)*)"${jsonBlank}*(:?)`, 'g');

function hasOnlyPlainEscapes(line: string): boolean {
  for (let at = line.indexOf('\\'); at >= 0; at = line.indexOf('\\', plainEscapeHere.lastIndex)) {
    plainEscapeHere.lastIndex = at;
    if (!plainEscapeHere.test(line)) return false;
  }
  return true;
}

/** @param line a JSON value, in which all quotes are closed */
function hasEscapedKey(line: string): boolean {
  const hasEscape = (text: string): boolean => lettersAndBlanks.some((escape) => text.includes(escape));
  if (!hasEscape(line)) return false;
  return [...line.matchAll(stringAndColon)].some(([, text = '', colon]) => colon === ':' && hasEscape(text));
}

/** A line with the values of its fields; undefined unless it is an object with plain escapes. */
interface JsonLine {
  readonly line: string;
  readonly values: ReadonlyMap<string, string> | undefined;
}

function readJsonLine(line: string): JsonLine {
  const fields = hasOnlyPlainEscapes(line) ? flattenJson(line) : undefined;
  return { line, values: fields && !hasEscapedKey(line) ? new Map(fields) : undefined };
}

function isDecidedBy({ line, values }: JsonLine, { field: path, text, mistakable }: JsonKey): boolean {
  if (values === undefined || mistakable.some((other) => line.includes(other))) return false;
  const [value, count] = [values.get(path), line.split(text).length - 1];
  return value === undefined ? count === 0 : count === 1 && value !== '' && !value.startsWith('[');
}

function valuesOf(line: string, keys: readonly JsonKey[]): ParsedValues | undefined {
  const object = readJsonLine(line);
  if (object.values === undefined || !keys.every((key) => isDecidedBy(object, key))) return undefined;
  return keys.map(({ field: path }) => object.values?.get(path));
}
