import { runParser, type Token, type TokenSource } from '../grammar/driver.js';
import type { Grammar, Terminal } from '../grammar/symbols.js';
import type { Table } from '../grammar/table.js';

/** A path or key of a parser parameter that Loki refuses; the message is Loki's. */
export class PathError extends Error {
  override readonly name = 'PathError';
}

/** A token's kind, value and length; a text is an error, at which reading stops. */
export type Piece =
  { readonly kind: Terminal<unknown>; readonly value: unknown; readonly length: number } | string;

const whiteSpace = new Set([' ', '\t', '\n']);
/** Ends the input, as the end of the text does. */
const nul = '\0';

/** Reads one token at an offset that is neither white space nor the end. */
export type ReadPiece = (text: string, at: number) => Piece;

/**
 * Parses the small languages of parser parameters. A scanner error ends the input; if a syntax error follows from that, the scanner error
 * is reported.
 */
export function parsePath(text: string, table: Table, read: ReadPiece, shown = text): unknown {
  const source = new PathSource(text, table.grammar, read);
  const result = runParser(table, source);
  const fault = source.fault;
  if (fault !== undefined) throw new PathError(`cannot parse expression [${shown}]: ${fault}`);
  return result?.value;
}

class PathSource implements TokenSource {
  fault: string | undefined;
  readonly #text: string;
  readonly #grammar: Grammar;
  readonly #read: ReadPiece;
  #at = 0;

  constructor(text: string, grammar: Grammar, read: ReadPiece) {
    this.#text = text;
    this.#grammar = grammar;
    this.#read = read;
  }

  syntaxError(message: string): void {
    this.fault = message;
  }

  next(): Token {
    while (whiteSpace.has(this.#text[this.#at] ?? '')) this.#at++;
    const start = this.#at;
    const piece = (this.#text[start] ?? nul) === nul ? undefined : this.#read(this.#text, start);
    if (typeof piece === 'object') {
      this.#at += piece.length;
      return { ...piece, name: piece.kind.name, start, end: this.#at };
    }
    this.#at = this.#text.length;
    if (piece !== undefined) this.fault = piece;
    const kind = this.#grammar.end;
    return { kind, value: undefined, name: kind.name, start, end: start };
  }
}

/** The error for a character that starts no token. */
export function unexpectedCharacter(text: string, at: number): string {
  return `unexpected char ${String.fromCodePoint(text.codePointAt(at) ?? 0)}`;
}
