import { clashSuffix } from '../../../../../core/logql/pipeline/types.js';
import { nestedLabelName } from '../../../../../core/logql/pipeline/slot.js';

/** A value of a JSON text. Numbers keep the digits in which they are written. */
export type JsonNode =
  | { readonly kind: 'object'; readonly members: readonly JsonMember[] }
  | { readonly kind: 'array'; readonly elements: readonly JsonNode[] }
  | { readonly kind: 'string' | 'number' | 'boolean' | 'null'; readonly text: string };

export interface JsonMember {
  readonly name: string;
  readonly value: JsonNode;
  /**
   * The names of the label that the stage `json` makes of this value: the usual one, and the one if another label has that name. Undefined for
   * values that it makes no label of.
   */
  readonly label: LabelNames | undefined;
}
export interface LabelNames {
  readonly usual: string;
  readonly clashing: string;
}

/** Deeper or larger texts are not taken apart: nobody reads them as a tree. */
const maxDepth = 32;
const maxNodes = 5_000;
const maxLength = 500_000;

const blank = /[ \t\n\r]*/y;
const textToken = /"(?:[^"\\\u0000-\u001f]|\\.)*"/y;
const numberToken = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const wordToken = /true|false|null/y;

/** The tree of a line that is a JSON object or array; undefined for any other line. */
export function jsonTree(line: string): JsonNode | undefined {
  if (line.length > maxLength || !/^\s*[{[]/.test(line)) return undefined;
  try {
    return new TreeReader(line).read();
  } catch {
    // Not JSON, or too much of it.
    return undefined;
  }
}

class TreeReader {
  readonly #line: string;
  #at = 0;
  #nodes = 0;

  constructor(line: string) {
    this.#line = line;
  }

  read(): JsonNode {
    const node = this.#value('', 0);
    this.#token(blank);
    if (this.#at < this.#line.length) throw new Error('text after the value');
    return node;
  }

  /** Reads a value; `prefix` is the start of the labels' names in it, undefined if it makes none. */
  #value(prefix: string | undefined, depth: number): JsonNode {
    this.#nodes += 1;
    if (this.#nodes > maxNodes || depth > maxDepth) throw new Error('too large');
    this.#token(blank);
    const first = this.#line.charAt(this.#at);
    if (first === '{') return { kind: 'object', members: this.#members(prefix, depth) };
    if (first === '[') {
      const elements: JsonNode[] = [];
      this.#list(']', () => elements.push(this.#value(undefined, depth + 1)));
      return { kind: 'array', elements };
    }
    if (first === '"') return { kind: 'string', text: this.#text() };
    const number = this.#token(numberToken);
    if (number !== undefined) return { kind: 'number', text: number };
    const word = this.#token(wordToken);
    if (word === undefined) throw new Error('not a value');
    return { kind: word === 'null' ? 'null' : 'boolean', text: word };
  }

  #members(prefix: string | undefined, depth: number): readonly JsonMember[] {
    const members: JsonMember[] = [];
    this.#list('}', () => {
      this.#token(blank);
      const name = this.#text();
      this.#token(blank);
      this.#take(':');
      const usual = prefix === undefined ? undefined : nestedLabelName(prefix, name);
      const value = this.#value(usual, depth + 1);
      const isLeaf = value.kind === 'string' || value.kind === 'number' || value.kind === 'boolean';
      const clashing = prefix === undefined ? '' : nestedLabelName(prefix, name + clashSuffix);
      const label =
        usual === undefined || usual === '' || !isLeaf
          ? undefined
          : { usual, clashing: depth === 0 ? usual + clashSuffix : clashing };
      members.push({ name, value, label });
    });
    return members;
  }

  /** Reads what stands between brackets and commas. */
  #list(end: string, item: () => void): void {
    this.#at += 1;
    this.#token(blank);
    if (this.#line.charAt(this.#at) === end) {
      this.#at += 1;
      return;
    }
    for (;;) {
      item();
      this.#token(blank);
      if (this.#line.charAt(this.#at) === end) break;
      this.#take(',');
    }
    this.#at += 1;
  }

  #text(): string {
    const token = this.#token(textToken);
    if (token === undefined) throw new Error('not a text');
    return String(JSON.parse(token));
  }

  #take(character: string): void {
    if (this.#line.charAt(this.#at) !== character) throw new Error(`no ${character}`);
    this.#at += 1;
  }

  #token(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#line)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }
}
