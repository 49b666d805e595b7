import { Grammar } from '../grammar/symbols.js';
import { buildTable, type Table } from '../grammar/table.js';
import { append } from '../syntax/tokens.js';
import { parsePath, unexpectedCharacter, type Piece } from './scanner.js';

const grammar = new Grammar();
const text = grammar.terminal<string>('STRING');
const key = grammar.terminal<string>('KEY');
let table: Table | undefined;

/**
 * Parses the key of a logfmt parameter: one name, bare or quoted. More quoted names may follow; Loki appends them like superfluous values,
 * which makes a key that no line has.
 * @throws PathError with Loki's text
 */
export function parseLogfmtKey(path: string): string {
  table ??= makeTable();
  // The start symbol's rules have no other results.
  return parsePath(path, table, readPiece) as string;
}

function makeTable(): Table {
  const start = grammar.nonterminal<string>('start');
  const whole = grammar.nonterminal<string>('whole');
  const names = grammar.nonterminal<string[]>('names');
  grammar.rule(start)([whole, grammar.end], ([made]) => made);
  grammar.rule(whole)([names], ([[first = '', ...others]]) => {
    const extra = others.map((name) => `string=${name}`).join(', ');
    return others.length === 0 ? first : `${first}%!(EXTRA ${extra})`;
  });
  grammar.rule(names)([key], ([made]) => [made]);
  grammar.rule(names)([text], ([made]) => [made]);
  grammar.rule(names)([names, text], ([list, made]) => append(list, made));
  return buildTable(grammar);
}

function readPiece(path: string, at: number): Piece {
  const rest = path.slice(at);
  const bare = /^[A-Za-z_][A-Za-z0-9_]*/.exec(rest)?.[0];
  if (bare !== undefined) return { kind: key, value: bare, length: bare.length };
  const quoted = /^"([^"\]\0]*)["\]\0]?/.exec(rest);
  if (quoted !== null) return { kind: text, value: quoted[1] ?? '', length: quoted[0].length };
  return unexpectedCharacter(path, at);
}
