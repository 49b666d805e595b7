import type { EmbeddedQuery } from './ast.js';
import { LogsqlError } from '../../../core/victoria/logsql/errors.js';
import { unquote } from '../../../core/victoria/logsql/unquote.js';

const space = /[\t\n\v\f\r \u0085\u00a0\p{Zs}\p{Zl}\p{Zp}]+/uy;
const word = /[\p{L}\p{Nd}_.]+/uy;

const maxNesting = 500;

interface LexerState {
  readonly position: number;
  readonly token: string;
  readonly raw: string;
  readonly previous: string;
  readonly spaceBefore: boolean;
}

/**
 * Splits a query into tokens: words (letters, digits, `_`, `.`), quoted strings, the operators `=~ !~ !=` and single characters. `token` is
 * the current one, without its quotes; it is empty at the end of the text.
 */
export class Lexer {
  token = '';
  /** The token as written. */
  raw = '';
  previous = '';
  spaceBefore = false;
  readonly #text: string;
  readonly #queryReader: (lexer: Lexer) => EmbeddedQuery;
  #position = 0;
  #nesting = 0;

  /** @param queryReader reads a nested query: filters contain queries, and queries contain filters */
  constructor(text: string, queryReader: (lexer: Lexer) => EmbeddedQuery) {
    this.#text = text;
    this.#queryReader = queryReader;
    this.next();
  }

  /** Reads the query that starts here, up to a closing parenthesis or the end. */
  readQuery(): EmbeddedQuery {
    return this.#queryReader(this);
  }

  get atEnd(): boolean {
    return this.raw === '' && this.#position >= this.#text.length;
  }

  get quoted(): boolean {
    return this.raw !== this.token;
  }

  /** The text up to and including the current token, for messages. */
  get context(): string {
    return this.#text.slice(Math.max(0, this.#position - 50), this.#position);
  }

  /** True when the current token is one of the words or characters, case-insensitive and not quoted. */
  is(...words: readonly string[]): boolean {
    return !this.quoted && words.includes(this.token.toLowerCase());
  }

  /** Like `is`, for a token that directly follows the previous one. */
  touches(...words: readonly string[]): boolean {
    return !this.spaceBefore && this.is(...words);
  }

  /** Skips the current token if it is one of the words; returns true if it did. */
  accept(...words: readonly string[]): boolean {
    if (!this.is(...words)) return false;
    this.next();
    return true;
  }

  save(): LexerState {
    const { token, raw, previous, spaceBefore } = this;
    return { position: this.#position, token, raw, previous, spaceBefore };
  }

  restore(state: LexerState): void {
    this.#position = state.position;
    this.token = state.token;
    this.raw = state.raw;
    this.previous = state.previous;
    this.spaceBefore = state.spaceBefore;
  }

  /** Moves to the next token. */
  next(): void {
    this.previous = this.token;
    this.#skipSpace();
    const start = this.#position;
    if (start >= this.#text.length) {
      this.#take('', '');
      return;
    }
    word.lastIndex = start;
    const found = word.exec(this.#text);
    if (found !== null) {
      this.#take(found[0], found[0]);
      return;
    }
    const quotedText = unquote(this.#text, start);
    if (quotedText !== undefined) {
      this.#take(quotedText.text, this.#text.slice(start, quotedText.end));
      return;
    }
    const two = this.#text.slice(start, start + 2);
    const sign =
      two === '=~' || two === '!~' || two === '!='
        ? two
        : String.fromCodePoint(this.#text.codePointAt(start) ?? 0);
    this.#take(sign, sign);
  }

  /** Reads a construct that can nest; excessive nesting is rejected before the stack overflows. */
  nested<T>(read: () => T): T {
    if (this.#nesting >= maxNesting)
      throw this.fail(`the query is nested more than ${maxNesting} levels deep`);
    this.#nesting++;
    const result = read();
    this.#nesting--;
    return result;
  }

  /** An error at the current token. */
  fail(message: string): LogsqlError {
    return new LogsqlError(message);
  }

  #take(token: string, raw: string): void {
    this.token = token;
    this.raw = raw;
    this.#position += raw.length;
  }

  #skipSpace(): void {
    this.spaceBefore = false;
    for (;;) {
      space.lastIndex = this.#position;
      const found = space.exec(this.#text);
      if (found !== null) {
        this.spaceBefore = true;
        this.#position += found[0].length;
      }
      if (this.#text[this.#position] !== '#') return;
      const end = this.#text.indexOf('\n', this.#position);
      this.#position = end < 0 ? this.#text.length : end + 1;
      this.spaceBefore = true;
    }
  }
}
