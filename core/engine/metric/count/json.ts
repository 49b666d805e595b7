import type { LogsqlFilter, LogsqlPipe } from '../../../victoria/logsql/ast.js';
import {
  and,
  field,
  fieldName,
  not,
  or,
  present,
  regexp,
  substring,
} from '../../../victoria/logsql/build.js';
import { spaceClass as blank, spaces } from '../../../logql/template/library/characters.js';
import type { StreamListing } from './stream-listing.js';
import type { Steps } from '../../../base/pace/steps.js';
import { decline, type Declined } from '../declined.js';
import {
  minLinesPerClass,
  type UncertainLines,
  type Get,
  type LineQuestion,
  type LineDigest,
  type ProvenDigest,
} from './line-digests.js';

/** Maximum number of labels to count lines by; with more there would be as many groups as lines. */
const maxNames = 6;
/** Minimum share of the sample's lines that must become shorter for shortening to be worthwhile. */
const minShortenedShare = 0.75;

const openNumber = '(?:[+.eE][0-9.eE+-]*|[+]?(?i:inf|nan))';
/**
 * Matches lines with numbers that the backend's JSON parser accepts and Loki's rejects. Every line contains colons, and the rest of the
 * pattern is tried at each. The first pattern tests a single character, fails for most lines, and takes a third of the time.
 */
export const lenientNumberLines: LogsqlFilter = and(
  regexp('_msg', ':[ \\t\\r\\n+.eEiInN]'),
  regexp('_msg', `:[ \\t\\r\\n]*${openNumber}[ \\t\\r\\n]*[,}\\]]`),
);

/** Labels that `| json` may add, which are those that not every stream already has. */
export function openNames(names: readonly string[], { streams }: StreamListing): readonly string[] {
  const identities = [...streams.values()];
  return names.filter((name) => !identities.every(({ labelNames }) => labelNames.has(name)));
}

/** Distinguishes lines by the labels that `| json` extracts from them. */
export function jsonQuestion(open: readonly string[]): LineQuestion | Declined {
  const key = `json ${JSON.stringify(open)}`;
  function* digestFor(lines: readonly string[]): Steps<LineDigest | Declined> {
    const groups = new Set<string>();
    let areProven = true;
    for (const line of lines) {
      const group = groupOf(line, open);
      groups.add(group);
      areProven &&= group !== line;
      yield;
    }
    if (groups.size * minLinesPerClass > lines.length) return decline('lines-differ');
    return areProven ? { ...jsonDigestOf(open), proven: provenDigest(open) } : jsonDigestOf(open);
  }
  return unlessTooMany(open, { key, digestFor });
}

/** Declines if there are too many labels, or none: without labels, valid and invalid lines cannot be distinguished. */
function unlessTooMany<Digest extends LineDigest>(
  open: readonly string[],
  question: LineQuestion<Digest>,
): LineQuestion<Digest> | Declined {
  if (open.length === 0) return decline('no-json-labels');
  return open.length > maxNames ? decline('too-many-json-labels') : question;
}

/** Matches text whose only escapes cannot be part of a key or of blanks around it, and that all parsers read alike. */
const plainEscapes = String.raw`^(?:[^\\]|\\["\\/])*$`;
const hasPlainEscapes = or(not(substring('_msg', '\\')), regexp('_msg', plainEscapes));

// Unlikely as the prefix of a client's field, which would only be overwritten during counting.
const prefix = '__json_';
const whole = '__json__line';
const before = (index: number): string => `__json__start_${index}`;
const behind = (index: number): string => `__json__rest_${index}`;

/**
 * A label comes from the only key of its name at the top level of an object. Its value represents the line if three conditions hold: the
 * backend has found the key, the text that every spelling of such a key starts with occurs once in the line, and only quotes and slashes
 * are escaped. Then no other key can produce the label. A line without that text does not have the label if it is valid JSON, which another
 * label proves. Any other line represents only itself.
 */
function jsonDigestOf(names: readonly string[]): LineDigest {
  const wholeLine = { kind: 'format', as: whole, rule: 'overwrite' } as const;
  return {
    pipes: [
      ...findKeys(names),
      { ...wholeLine, pattern: '' },
      { ...wholeLine, pattern: '<_msg>', condition: not(areDecided(names)) },
    ],
    columns: [...names.map((name) => prefix + name), whole],
    representativeOf: (get) => ({ line: lineOf(get, names) }),
  };
}

function areDecided(names: readonly string[]): LogsqlFilter {
  return and(
    hasPlainEscapes,
    or(...names.map((name) => present(prefix + name))),
    ...names.map((name, index) =>
      and(
        or(isFoundOnce(name, index), and(not(present(prefix + name)), not(present(behind(index))))),
        hasNoBlanks(name, index),
      ),
    ),
  );
}

/** A digest for selections in which the values represent every line, so that lines need no further check. */
function provenDigest(names: readonly string[]): ProvenDigest<LineDigest> {
  return {
    uncertainLines: doubtsOf(names),
    digest: {
      pipes: [findValues(names)],
      columns: names.map((name) => prefix + name),
      representativeOf: (get) => ({ line: lineOf(get, names) }),
    },
  };
}

/** Lines for which one key (or none) per name does not determine the result of `| json`. */
function doubtsOf(names: readonly string[]): UncertainLines {
  return {
    key: `json ${JSON.stringify(names)}`,
    pipes: findKeys(names),
    filter: not(areDecided(names)),
  };
}

function findValues(names: readonly string[]): LogsqlPipe {
  return { kind: 'unpack_json', from: '_msg', fields: names.map(fieldName), prefix, rule: 'overwrite' };
}

/** Extracts the values, and the text before and after the first occurrence of a possible key. */
function findKeys(names: readonly string[]): readonly LogsqlPipe[] {
  return [
    findValues(names),
    ...names.map((name, index): LogsqlPipe => {
      const pattern = `<plain:${before(index)}>${startOf(name)}<plain:${behind(index)}>`;
      return { kind: 'extract', pattern, from: '_msg', rule: 'overwrite' };
    }),
  ];
}

function isFoundOnce(name: string, index: number): LogsqlFilter {
  const [value, rest] = [prefix + name, behind(index)];
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
  const [start, rest] = [before(index), behind(index)];
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

/** Groups lines by all labels that `| json` extracts except one, whose values are gathered. */
export interface ValueDigest extends LineDigest {
  readonly valueColumn: string;
  readonly proven?: ProvenDigest<ValueDigest> | undefined;
  /** The line of a group that represents only itself; empty for other groups. */
  undecidedLine(get: Get): string;
  /** A line with the labels of a group and this value. */
  lineOf(get: Get, value: string): string;
}

/** Gathers the values of a label. */
export function valuesQuestion(open: readonly string[], name: string): LineQuestion<ValueDigest> | Declined {
  const others = open.filter((one) => one !== name);
  function* digestFor(lines: readonly string[]): Steps<ValueDigest | Declined> {
    const groups = new Set<string>();
    let areProven = true;
    for (const line of lines) {
      const isAlone = groupOf(line, open) === line;
      groups.add(isAlone ? line : groupOf(line, others));
      areProven &&= !isAlone;
      yield;
    }
    if (groups.size * minLinesPerClass > lines.length) return decline('lines-differ');
    const { uncertainLines, digest } = provenDigest(open);
    const proven = areProven ? { uncertainLines, digest: gather(digest, open, name) } : undefined;
    return { ...gather(jsonDigestOf(open), open, name), proven };
  }
  return unlessTooMany(open, { key: `values ${name} ${JSON.stringify(open)}`, digestFor });
}

function gather(digest: LineDigest, open: readonly string[], name: string): ValueDigest {
  const valueColumn = prefix + name;
  return {
    pipes: digest.pipes,
    columns: digest.columns.filter((column) => column !== valueColumn),
    valueColumn,
    representativeOf: (get) => ({ line: lineOf(get, open) }),
    undecidedLine: (get) => get(whole) ?? '',
    lineOf: (get, value) => lineOf((column) => (column === valueColumn ? value : get(column)), open),
  };
}

function lineOf(get: Get, names: readonly string[]): string {
  const line = get(whole) ?? '';
  if (line !== '') return line;
  const values = names.map((name): [string, string] => [name, get(prefix + name) ?? '']);
  return JSON.stringify(Object.fromEntries(values.filter(([, value]) => value !== '')));
}

/** Shortens lines to the labels that `| json` extracts. `columns` is empty, because `_msg` becomes the short line. */
export function shorteningQuestion(open: readonly string[]): LineQuestion | Declined {
  function* digestFor(lines: readonly string[]): Steps<LineDigest | Declined> {
    let short = 0;
    for (const line of lines) {
      if (groupOf(line, open) !== line) short += 1;
      yield;
    }
    return short >= lines.length * minShortenedShare ? shorten(open) : decline('lines-stay-long');
  }
  return unlessTooMany(open, { key: `short ${JSON.stringify(open)}`, digestFor });
}

function shorten(names: readonly string[]): LineDigest {
  const isDecided = and(
    hasPlainEscapes,
    ...names.map((name, index) => and(isFoundOnce(name, index), hasNoBlanks(name, index))),
  );
  const pairs = names.map((name) => `"${name}":<q:${prefix}${name}>`);
  const short = { kind: 'format', pattern: `{${pairs.join(',')}}`, as: '_msg' } as const;
  return {
    pipes: [...findKeys(names), { ...short, rule: 'overwrite', condition: isDecided }],
    columns: [],
    representativeOf: (get) => ({ line: get('_msg') ?? '' }),
  };
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

/** The group that the backend would put a line in, except in rare cases. */
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
