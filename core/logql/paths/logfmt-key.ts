import { Grammar } from '../grammar/symbols.js';
import { buildTable, type Table } from '../grammar/table.js';
import { parsePath, unexpectedCharacter, type Piece } from './scanner.js';

const grammar = new Grammar();
const text = grammar.terminal<string>('STRING');
const key = grammar.terminal<string>('KEY');
let table: Table | undefined;

/**
 * Parses the key of a logfmt parameter: one name, bare or quoted.
 * @throws PathError with Loki's text
 */
export function parseLogfmtKey(path: string): string {
  table ??= makeTable();
  // The start symbol's rules have no other results.
  return parsePath(path, table, readPiece) as string;
}

function makeTable(): Table {
  const start = grammar.nonterminal<string>('start');
  const name = grammar.nonterminal<string>('name');
  grammar.rule(start)([name, grammar.end], ([made]) => made);
  grammar.rule(name)([key], ([made]) => made);
  grammar.rule(name)([text], ([made]) => made);
  return buildTable(grammar);
}

function readPiece(path: string, at: number): Piece {
  const rest = path.slice(at);
  const bare = /^[A-Za-z_][A-Za-z0-9_]*/.exec(rest)?.[0];
  if (bare !== undefined) return { kind: key, value: bare, length: bare.length };
  const quoted = /^"([^"]*)"?/.exec(rest);
  if (quoted !== null) return { kind: text, value: quoted[1] ?? '', length: quoted[0].length };
  return unexpectedCharacter(path, at);
}
