import { quoteGo } from '../../base/label-set.js';

const keywords = new Set([
  ...['block', 'break', 'continue', 'define', 'else', 'end', 'if', 'range', 'template', 'with'],
]);
const leftDelimiter = '{{';
const rightDelimiter = '}}';
const spaces = ' \t\r\n';
const wordCharacter = /[\p{L}\p{Nd}_]/uy;
const numberPattern =
  /[+-]?(?:0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]*)?|0[oO][0-7_]*(?:\.[0-7_]*)?|0[bB][01_]*(?:\.[01_]*)?|[0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]*)?)i?/y;
const singles: ReadonlyMap<string, TemplateTokenKind> = new Map([
  ['=', 'assign'],
  ['|', 'pipe'],
]);

/** Splits a template into tokens as Go's text/template does, including trim markers and comments. */
export function* lexTemplate(source: string): Generator<TemplateToken, TemplateToken> {
  let at = 0;
  let line = 1;
  let counted = 0;
  const make = (kind: TemplateTokenKind, text: string, offset: number): TemplateToken => {
    for (; counted < offset; counted++) if (source[counted] === '\n') line++;
    return { kind, text, offset, line };
  };
  for (;;) {
    const open = source.indexOf(leftDelimiter, at);
    const textEnd = open < 0 ? source.length : open;
    const trimsLeft = open >= 0 && isLeftTrim(source, open + 2);
    const text = source.slice(at, textEnd);
    const kept = trimsLeft ? trimRight(text) : text;
    if (kept !== '') yield make('text', kept, at);
    if (open < 0) return make('eof', '', source.length);
    at = open + 2;
    const inside = trimsLeft ? at + 2 : at;
    if (source.startsWith('/*', inside)) {
      const close = source.indexOf('*/', inside + 2);
      if (close < 0) return make('error', 'unclosed comment', open);
      const right = rightDelimiterAt(source, close + 2);
      if (right === 0) return make('error', 'comment ends before closing delimiter', open);
      at = afterRight(source, close + 2, right);
      continue;
    }
    yield make('left', leftDelimiter, open);
    at = inside;
    let depth = 0;
    for (;;) {
      const right = rightDelimiterAt(source, at);
      if (right > 0) {
        if (depth > 0) return make('error', 'unclosed left paren', at);
        yield make('right', rightDelimiter, at + right - 2);
        at = afterRight(source, at, right);
        break;
      }
      const piece = lexPiece(source, at);
      if (piece.kind === 'open') depth++;
      if (piece.kind === 'close' && --depth < 0) return make('error', 'unexpected right paren', at);
      const token = make(piece.kind, piece.text, at);
      if (piece.kind === 'error') return token;
      yield token;
      at += piece.text.length;
    }
  }
}

interface Piece {
  readonly kind: TemplateTokenKind;
  readonly text: string;
}

function lexPiece(source: string, at: number): Piece {
  const char = source[at];
  if (char === undefined) return error('unclosed action');
  if (spaces.includes(char)) return { kind: 'space', text: readSpaces(source, at) };
  const single = singles.get(char);
  if (single !== undefined) return { kind: single, text: char };
  if (char === ':') return source[at + 1] === '=' ? { kind: 'declare', text: ':=' } : error('expected :=');
  if (char === '"') return readQuoted(source, at, 'string', 'unterminated quoted string');
  if (char === "'") return readQuoted(source, at, 'constant', 'unterminated character constant');
  if (char === '`') {
    const close = source.indexOf('`', at + 1);
    return close < 0
      ? error('unterminated raw quoted string')
      : { kind: 'string', text: source.slice(at, close + 1) };
  }
  if (char === '$') return readNamed(source, at, 'variable', 'variable');
  if (char === '.' && !isDigit(source[at + 1])) return readNamed(source, at, 'field', 'dot');
  if (char === '.' || char === '+' || char === '-' || isDigit(char)) return readConstant(source, at);
  if (isWord(source, at)) return readWord(source, at);
  if (char === '(') return { kind: 'open', text: char };
  if (char === ')') return { kind: 'close', text: char };
  if (/[!-~]/.test(char)) return { kind: 'char', text: char };
  return error(`unrecognized character in action: ${describeCharacter(source, at)}`);
}

function error(text: string): Piece {
  return { kind: 'error', text };
}

/** Spaces before a trim-marked delimiter, except the one that belongs to it. */
function readSpaces(source: string, at: number): string {
  let end = at;
  while (spaces.includes(source[end] ?? '-')) end++;
  if (rightDelimiterAt(source, end - 1) === 4) end--;
  return source.slice(at, end);
}

function readQuoted(source: string, at: number, kind: TemplateTokenKind, fault: string): Piece {
  const quote = source[at];
  for (let end = at + 1; end < source.length; end++) {
    let char = source[end];
    if (char === '\\') char = source[++end] === '\n' ? '\n' : undefined;
    if (char === '\n') break;
    if (char === quote) return { kind, text: source.slice(at, end + 1) };
  }
  return error(fault);
}

/** `$name` or `.name`; alone, `$` is a variable and `.` the dot. */
function readNamed(source: string, at: number, kind: TemplateTokenKind, alone: TemplateTokenKind): Piece {
  const end = wordEnd(source, at + 1);
  if (end === at + 1 && isTerminator(source, end)) return { kind: alone, text: source.slice(at, end) };
  if (!isTerminator(source, end)) return error(`bad character ${describeCharacter(source, end)}`);
  return { kind, text: source.slice(at, end) };
}

function readWord(source: string, at: number): Piece {
  const end = wordEnd(source, at);
  if (!isTerminator(source, end)) return error(`bad character ${describeCharacter(source, end)}`);
  const text = source.slice(at, end);
  if (keywords.has(text)) return { kind: 'keyword', text };
  if (text === 'nil') return { kind: 'nil', text };
  return { kind: text === 'true' || text === 'false' ? 'bool' : 'identifier', text };
}

function readConstant(source: string, at: number): Piece {
  const first = matchNumber(source, at);
  if (!first.ok) return badNumber(first.text);
  const sign = source[at + first.text.length];
  if (sign !== '+' && sign !== '-') return { kind: 'number', text: first.text };
  const second = matchNumber(source, at + first.text.length);
  const text = first.text + second.text;
  return second.ok && text.endsWith('i') ? { kind: 'complex', text } : badNumber(text);
}

function badNumber(text: string): Piece {
  return error(`bad number syntax: ${quoteGo(text)}`);
}

/** A number must not run into a letter; that letter is then part of the text in the error. */
function matchNumber(source: string, at: number): { ok: boolean; text: string } {
  numberPattern.lastIndex = at;
  const text = numberPattern.exec(source)?.[0] ?? '';
  const end = at + text.length;
  if (!isWord(source, end)) return { ok: true, text };
  return { ok: false, text: source.slice(at, end) + String.fromCodePoint(source.codePointAt(end) ?? 0) };
}

function isDigit(char: string | undefined): boolean {
  return char !== undefined && char >= '0' && char <= '9';
}

function isWord(source: string, at: number): boolean {
  wordCharacter.lastIndex = at;
  return wordCharacter.test(source);
}

function wordEnd(source: string, at: number): number {
  let end = at;
  while (isWord(source, end)) end += (source.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  return end;
}

/** True when a name may end here. */
function isTerminator(source: string, at: number): boolean {
  const char = source[at];
  return char === undefined || `${spaces}.,|:)(`.includes(char) || source.startsWith(rightDelimiter, at);
}

function isLeftTrim(source: string, at: number): boolean {
  return source[at] === '-' && spaces.includes(source[at + 1] ?? '-');
}

/** Length of the closing delimiter here: 2, 4 with a trim marker, 0 if there is none. */
function rightDelimiterAt(source: string, at: number): 0 | 2 | 4 {
  if (source.startsWith(rightDelimiter, at)) return 2;
  const isMarked = spaces.includes(source[at] ?? '-') && source.startsWith(`-${rightDelimiter}`, at + 1);
  return isMarked ? 4 : 0;
}

function afterRight(source: string, at: number, length: 0 | 2 | 4): number {
  let end = at + length;
  if (length === 4) while (spaces.includes(source[end] ?? '-')) end++;
  return end;
}

function trimRight(text: string): string {
  let end = text.length;
  while (end > 0 && spaces.includes(text[end - 1] ?? '-')) end--;
  return text.slice(0, end);
}

export type TemplateTokenKind =
  | 'error'
  | 'eof'
  | 'text'
  | 'left'
  | 'right'
  | 'space'
  | 'assign'
  | 'declare'
  | 'pipe'
  | 'open'
  | 'close'
  | 'char'
  | 'string'
  | 'constant'
  | 'number'
  | 'complex'
  | 'bool'
  | 'identifier'
  | 'field'
  | 'variable'
  | 'dot'
  | 'nil'
  | 'keyword';

export interface TemplateToken {
  readonly kind: TemplateTokenKind;
  readonly text: string;
  readonly offset: number;
  readonly line: number;
}

/** Go's %#U of the character at an offset: `U+002D '-'`. */
function describeCharacter(source: string, at: number): string {
  const code = source.codePointAt(at) ?? 0xfffd;
  const hex = code.toString(16).toUpperCase().padStart(4, '0');
  const char = String.fromCodePoint(code);
  return /[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(char) ? `U+${hex} '${char}'` : `U+${hex}`;
}

/** A token as error texts show it. */
export function describeToken({ kind, text }: TemplateToken): string {
  if (kind === 'eof') return 'EOF';
  if (kind === 'error') return text;
  if (kind === 'keyword' || kind === 'dot' || kind === 'nil') return `<${text}>`;
  const characters = Array.from(text);
  return characters.length > 10 ? `${quoteGo(characters.slice(0, 10).join(''))}...` : quoteGo(text);
}
