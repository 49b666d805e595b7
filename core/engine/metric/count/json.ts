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

/** The most labels to count lines by; more would make as many groups as lines. */
const maxNames = 6;
/** The share of a sample's lines that must become shorter for shortening to pay off. */
const minShortenedShare = 0.75;

const openNumber = '(?:[+.eE][0-9.eE+-]*|[+]?(?i:inf|nan))';
/**
 * Lines with numbers that the backend's JSON parser accepts and Loki's refuses. A colon is in every line, and what may follow it is tried
 * at each; most lines fail the first pattern, which tries a single character and takes a third of the time.
 */
export const lenientNumberLines: LogsqlFilter = and(
  regexp('_msg', ':[ \\t\\r\\n+.eEiInN]'),
  regexp('_msg', `:[ \\t\\r\\n]*${openNumber}[ \\t\\r\\n]*[,}\\]]`),
);

/** Labels that `| json` may add: those that not every stream already has. */
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

/** Without any label, valid lines cannot be distinguished from invalid ones. */
function unlessTooMany<Digest extends LineDigest>(
  open: readonly string[],
  question: LineQuestion<Digest>,
): LineQuestion<Digest> | Declined {
  if (open.length === 0) return decline('no-json-labels');
  return open.length > maxNames ? decline('too-many-json-labels') : question;
}

/** Escapes that cannot spell the name of a key, or blanks around one, and that everybody reads alike. */
const plainEscapes = String.raw`^(?:[^\\]|\\["\\/])*$`;
const hasPlainEscapes = or(not(substring('_msg', '\\')), regexp('_msg', plainEscapes));

// A client field is unlikely to have this prefix, and would only be overwritten during counting.
const prefix = '__json_';
const whole = '__json__line';
const before = (index: number): string => `__json__start_${index}`;
const behind = (index: number): string => `__json__rest_${index}`;

/**
 * A label comes from the one key of its name at the top of an object. Its value represents the line when the backend has found the key, the
 * text that every spelling of such a key starts with occurs once in the line, and nothing but quotes and slashes is escaped: then no other
 * key can produce the label. A line without that text lacks the label if it is valid, which another label proves. All other lines represent
 * only themselves.
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

/** Where the values of all lines represent them, none has to be proved to be what it looks like. */
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

/** Lines that do not show, by one key of each of these names or none, what `| json` makes of them. */
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

/** Extracts values, and the text before and after the first occurrence of a possible key. */
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
  // Values that start like this may be arrays, which make no label.
  const isText = not(field(value, { kind: 'exact-prefix', text: '[' }));
  return and(present(value), isText, present(rest), not(substring(rest, startOf(name))));
}

/**
 * Loki trims blanks around a key. They only need to be searched for when the key's text also occurs elsewhere, and by a pattern only in
 * lines with a blank beside that text: a pattern that starts with a quote is tried at each, which takes ten times as long.
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

/** Gathers lines by the labels that `| json` extracts from them, all but one, of which the values are wanted. */
export interface ValueDigest extends LineDigest {
  readonly valueColumn: string;
  readonly proven?: ProvenDigest<ValueDigest> | undefined;
  /** The line of a group that represents only itself; empty for the others. */
  undecidedLine(get: Get): string;
  /** A line that has the labels of a group and this value. */
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

/** Shortens lines to the labels that `| json` extracts from them; `columns` is empty, because `_msg` is the short line. */
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

/** The start of every key that makes this label: other characters, and nesting, become underscores. */
function startOf(name: string): string {
  const [first = name, ...others] = name.split('_');
  return others.length === 0 ? `"${name}"` : `"${first}`;
}

function hasOnlyPlainEscapes(line: string): boolean {
  for (let at = line.indexOf('\\'); at >= 0; at = line.indexOf('\\', at + 2))
    if (!'"\\/'.includes(line.charAt(at + 1) || 'none')) return false;
  return true;
}

/** Groups a line as the backend would, except in rare cases. */
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
