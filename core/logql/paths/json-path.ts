import { Grammar } from '../grammar/symbols.js';
import { buildTable, type Table } from '../grammar/table.js';
import { parsePath, unexpectedCharacter, type Piece } from './scanner.js';

/** A path into a JSON value; each step is a key or an array index. */
export type JsonPath = readonly (string | number)[];

const grammar = new Grammar();
const dot = grammar.terminal<undefined>('DOT');
const open = grammar.terminal<undefined>('LSB');
const close = grammar.terminal<undefined>('RSB');
const text = grammar.terminal<string>('STRING');
const field = grammar.terminal<string>('FIELD');
const index = grammar.terminal<number>('INDEX');
let table: Table | undefined;

const maxIndex = (1n << 63n) - 1n;
const anyPath = 'x[0]';
const stepsOfAnyPath = 2;
/** The common forms of one step; the first step has no dot. */
const firstStep =
  /[ \t\n]*(?:([A-Za-z_][A-Za-z0-9_]*)|\[[ \t\n]*(?:([0-9]{1,15})|"([^"\]\0]*)")[ \t\n]*\])[ \t\n]*/y;
const nextStep =
  /[ \t\n]*(?:\.[ \t\n]*([A-Za-z_][A-Za-z0-9_]*)|\[[ \t\n]*(?:([0-9]{1,15})|"([^"\]\0]*)")[ \t\n]*\])[ \t\n]*/y;

/**
 * Parses the path of a json parameter: `a.b[0]["odd key"]`.
 * @throws PathError with Loki's text
 */
export function parseJsonPath(path: string): JsonPath {
  const steps: (string | number)[] = [];
  const end = readSteps(path, steps);
  if (steps.length > 0 && end === path.length) return steps;
  table ??= makeTable();
  // To the grammar, the steps read so far are one path, whatever its text. Parsing them again would be slow for a long path.
  const rest = steps.length === 0 ? path : `${anyPath}${path.slice(end)}`;
  const more = parsePath(rest, table, readPiece, path) as JsonPath;
  return steps.length === 0 ? more : [...steps, ...more.slice(stepsOfAnyPath)];
}

/** Reads plain steps; returns the offset after them. */
function readSteps(path: string, steps: (string | number)[]): number {
  let end = 0;
  for (;;) {
    const step = end === 0 ? firstStep : nextStep;
    step.lastIndex = end;
    const [all, name, index, key = ''] = step.exec(path) ?? [];
    if (all === undefined) return end;
    end += all.length;
    steps.push(name ?? (index === undefined ? key : Number(index)));
  }
}

function makeTable(): Table {
  const start = grammar.nonterminal<JsonPath>('start');
  const whole = grammar.nonterminal<JsonPath>('whole');
  const path = grammar.nonterminal<JsonPath>('path');
  const bracket = grammar.nonterminal<string | number>('bracket');
  // A separate rule, as in Loki: once a path may end, no error lists the tokens that could follow.
  grammar.rule(start)([whole, grammar.end], ([made]) => made);
  grammar.rule(whole)([path], ([made]) => made);
  grammar.rule(path)([field], ([name]) => [name]);
  grammar.rule(path)([bracket], ([step]) => [step]);
  grammar.rule(path)([path, dot, field], ([steps, , name]) => [...steps, name]);
  grammar.rule(path)([path, bracket], ([steps, step]) => [...steps, step]);
  grammar.rule(bracket)([open, text, close], ([, name]) => name);
  grammar.rule(bracket)([open, index, close], ([, position]) => position);
  return buildTable(grammar);
}

function readPiece(path: string, at: number): Piece {
  const rest = path.slice(at);
  if (rest.startsWith('.')) return { kind: dot, value: undefined, length: 1 };
  if (rest.startsWith('[')) return { kind: open, value: undefined, length: 1 };
  if (rest.startsWith(']')) return { kind: close, value: undefined, length: 1 };
  const name = /^[A-Za-z_][A-Za-z0-9_]*/.exec(rest)?.[0];
  if (name !== undefined) return { kind: field, value: name, length: name.length };
  // A key ends at its quote, or at the bracket if that comes first: the scanner has no escapes.
  const quoted = /^"([^"\]\0]*)["\]\0]?/.exec(rest);
  if (quoted !== null) return { kind: text, value: quoted[1] ?? '', length: quoted[0].length };
  const digits = /^[0-9]+/.exec(rest)?.[0];
  return digits === undefined ? unexpectedCharacter(path, at) : readIndex(digits, path, at + digits.length);
}

function readIndex(digits: string, path: string, end: number): Piece {
  const after = String.fromCodePoint(path.codePointAt(end) ?? 0);
  if (after === '.') return 'cannot use float as array index';
  if (!/[ \t\n\]]/.test(after)) return `non-integer value: ${after}`;
  if (BigInt(digits) > maxIndex) return `strconv.Atoi: parsing "${digits}": value out of range`;
  return { kind: index, value: Number(digits), length: digits.length };
}
