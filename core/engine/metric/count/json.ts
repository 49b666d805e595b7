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
import type { Inventory } from './inventory.js';
import { decline, type Declined } from '../declined.js';
import { worthwhile, type Cutting, type Get, type LineQuestion } from './shapes.js';

/** Labels that lines are counted by; more would make as many groups as lines. */
const maxNames = 6;
/** So many of a sample's lines are to be shorter, for shortening to be worth it. */
const mostly = 0.75;

const openNumber = '(?:[+.eE][0-9.eE+-]*|[+]?(?i:inf|nan))';
/** Lines with numbers that begin like none: the backend's parser takes them, Loki's refuses them. */
export const oddLines: LogsqlFilter = regexp('_msg', `:[ \\t\\r\\n]*${openNumber}[ \\t\\r\\n]*[,}\\]]`);

/** Labels that `| json` may give to streams: those that not all of them have already. */
export function openNames(names: readonly string[], { streams }: Inventory): readonly string[] {
  const identities = [...streams.values()];
  return names.filter((name) => !identities.every(({ labelNames }) => labelNames.has(name)));
}

/** How lines are told apart by the labels that `| json` takes from them. */
export function jsonQuestion(open: readonly string[]): LineQuestion | Declined {
  const key = `json ${JSON.stringify(open)}`;
  const judge = (lines: readonly string[]): Cutting | Declined =>
    areAlike(lines, open) ? cut(open) : decline('lines-differ');
  return unlessTooMany(open, { key, judge });
}

/** With no label at all nothing tells a line that is valid from one that is not. */
function unlessTooMany(open: readonly string[], question: LineQuestion): LineQuestion | Declined {
  if (open.length === 0) return decline('no-json-labels');
  return open.length > maxNames ? decline('too-many-json-labels') : question;
}

// No client's field is likely to be called so; one that is would only be overwritten while rows are counted.
const prefix = '__json_';
const whole = '__json__line';
const before = (index: number): string => `__json__start_${index}`;
const behind = (index: number): string => `__json__rest_${index}`;

/**
 * A label comes from the one key of its name at the top of an object. Such a line is told by the label's value when the backend
 * has found the key, and the text that every spelling of such a key begins with stands in the line once, and nothing is escaped:
 * then no other key can make the label. A line without that text does not have the label, if it is valid, which another label
 * proves. All other lines tell themselves.
 */
function cut(names: readonly string[]): Cutting {
  const isTold = and(
    not(substring('_msg', '\\')),
    or(...names.map((name) => present(prefix + name))),
    ...names.map((name, index) =>
      and(
        or(isFoundOnce(name, index), and(not(present(prefix + name)), not(present(behind(index))))),
        hasNoBlanks(name, index),
      ),
    ),
  );
  const wholeLine = { kind: 'format', as: whole, rule: 'overwrite' } as const;
  return {
    pipes: [
      ...findKeys(names),
      { ...wholeLine, pattern: '' },
      { ...wholeLine, pattern: '<_msg>', condition: not(isTold) },
    ],
    columns: [...names.map((name) => prefix + name), whole],
    toldBy: (get) => ({ line: lineOf(get, names) }),
  };
}

/** Finds values, and what stands before and behind the first text that a key may begin with. */
function findKeys(names: readonly string[]): readonly LogsqlPipe[] {
  return [
    { kind: 'unpack_json', from: '_msg', fields: names.map(fieldName), prefix, rule: 'overwrite' },
    ...names.map((name, index): LogsqlPipe => {
      const pattern = `<plain:${before(index)}>${startOf(name)}<plain:${behind(index)}>`;
      return { kind: 'extract', pattern, from: '_msg', rule: 'overwrite' };
    }),
  ];
}

function isFoundOnce(name: string, index: number): LogsqlFilter {
  const [value, rest] = [prefix + name, behind(index)];
  // Values that begin so may be arrays, which make no label.
  const isText = not(field(value, { kind: 'exact-prefix', text: '[' }));
  return and(present(value), isText, present(rest), not(substring(rest, startOf(name))));
}

const blank = '[\\s\\x{85}\\p{Z}]';

/** Blanks around a key are cut off by Loki. Only where its text stands elsewhere, too, has one to be looked for. */
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
  return or(isAlone, not(regexp('_msg', `"${key}`)));
}

function lineOf(get: Get, names: readonly string[]): string {
  const line = get(whole) ?? '';
  if (line !== '') return line;
  const values = names.map((name): [string, string] => [name, get(prefix + name) ?? '']);
  return JSON.stringify(Object.fromEntries(values.filter(([, value]) => value !== '')));
}

/** How lines are shortened to the labels that `| json` takes from them; `columns` is empty, as `_msg` is the short line. */
export function shorteningQuestion(open: readonly string[]): LineQuestion | Declined {
  const judge = (lines: readonly string[]): Cutting | Declined => {
    const short = lines.filter((line) => groupOf(line, open) !== line).length;
    return short >= lines.length * mostly ? shorten(open) : decline('lines-stay-long');
  };
  return unlessTooMany(open, { key: `short ${JSON.stringify(open)}`, judge });
}

function shorten(names: readonly string[]): Cutting {
  const isTold = and(
    not(substring('_msg', '\\')),
    ...names.map((name, index) => and(isFoundOnce(name, index), hasNoBlanks(name, index))),
  );
  const pairs = names.map((name) => `"${name}":<q:${prefix}${name}>`);
  const short = { kind: 'format', pattern: `{${pairs.join(',')}}`, as: '_msg' } as const;
  return {
    pipes: [...findKeys(names), { ...short, rule: 'overwrite', condition: isTold }],
    columns: [],
    toldBy: (get) => ({ line: get('_msg') ?? '' }),
  };
}

/** How every key begins that makes this label: other signs, and nested keys, show as an underscore. */
function startOf(name: string): string {
  const [first = name, ...others] = name.split('_');
  return others.length === 0 ? `"${name}"` : `"${first}`;
}

/** Whether a sample of lines has few enough groups. */
function areAlike(lines: readonly string[], names: readonly string[]): boolean {
  return new Set(lines.map((line) => groupOf(line, names))).size * worthwhile <= lines.length;
}

/** As the backend would group it, but for what is rare. */
function groupOf(line: string, names: readonly string[]): string {
  if (line.includes('\\')) return line;
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
