import { endOfString } from '../../../logql/pipeline/json-value.js';

/** A string, number, boolean or null: its text (empty for null), and as it is written. */
interface JsonScalar {
  readonly kind: 'scalar';
  readonly text: string;
  readonly json: string;
}

/** A JSON value; numbers keep their written form. */
export type JsonValue =
  | JsonScalar
  | { readonly kind: 'array'; readonly items: readonly JsonValue[] }
  | { readonly kind: 'object'; readonly members: readonly (readonly [string, JsonValue])[] };

const token =
  /[\t\n\r ]*(?:([{}[\],:])|(")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)|(true|false|null))/y;
const blanks = /[\t\n\r ]*/y;
const control = /[\u0000-\u001f]/;
const maxDepth = 256;

class JsonError extends Error {}

/** Parses a text that is one JSON value; undefined for anything else. */
export function parseJson(text: string): JsonValue | undefined {
  const reader = new JsonReader(text);
  try {
    const value = reader.value(0);
    return reader.atEnd() ? value : undefined;
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

class JsonReader {
  readonly #text: string;
  #at = 0;
  #token = '';
  #kind: 'sign' | 'string' | 'other' = 'other';

  constructor(text: string) {
    this.#text = text;
  }

  atEnd(): boolean {
    blanks.lastIndex = this.#at;
    blanks.exec(this.#text);
    return blanks.lastIndex === this.#text.length;
  }

  value(depth: number): JsonValue {
    this.#next();
    return this.#valueAtToken(depth);
  }

  #valueAtToken(depth: number): JsonValue {
    if (depth > maxDepth) throw new JsonError();
    if (this.#kind === 'string') return { kind: 'scalar', text: this.#string(), json: this.#token };
    if (this.#kind === 'other') {
      return { kind: 'scalar', text: this.#token === 'null' ? '' : this.#token, json: this.#token };
    }
    if (this.#token === '[') return this.#array(depth);
    if (this.#token === '{') return this.#object(depth);
    throw new JsonError();
  }

  #array(depth: number): JsonValue {
    return { kind: 'array', items: this.#list(']', () => this.#valueAtToken(depth + 1)) };
  }

  #object(depth: number): JsonValue {
    const members = this.#list('}', (): [string, JsonValue] => {
      if (this.#kind !== 'string') throw new JsonError();
      const name = this.#string();
      this.#next();
      if (!this.#isSign(':')) throw new JsonError();
      return [name, this.value(depth + 1)];
    });
    return { kind: 'object', members };
  }

  /** @param read reads the item at the current token */
  #list<Item>(close: string, read: () => Item): Item[] {
    const items: Item[] = [];
    this.#next();
    if (this.#isSign(close)) return items;
    for (;;) {
      items.push(read());
      this.#next();
      if (this.#isSign(close)) return items;
      if (!this.#isSign(',')) throw new JsonError();
      this.#next();
    }
  }

  #isSign(sign: string): boolean {
    return this.#kind === 'sign' && this.#token === sign;
  }

  #string(): string {
    if (!this.#token.includes('\\')) return this.#token.slice(1, -1);
    try {
      // The token's first character shows that it is a string.
      return JSON.parse(this.#token) as string;
    } catch {
      throw new JsonError();
    }
  }

  #next(): void {
    token.lastIndex = this.#at;
    const match = token.exec(this.#text);
    if (match === null) throw new JsonError();
    this.#at = token.lastIndex;
    this.#token = match[1] ?? match[3] ?? match[4] ?? '';
    this.#kind = match[1] !== undefined ? 'sign' : match[2] !== undefined ? 'string' : 'other';
    if (this.#kind === 'string') this.#readString(this.#at - 1);
  }

  /** Reads up to the closing quote. A regular expression would overflow the stack on long strings. */
  #readString(start: number): void {
    const end = endOfString(this.#text, start, this.#text.length);
    if (end < 0) throw new JsonError();
    this.#at = end + 1;
    this.#token = this.#text.slice(start, this.#at);
    if (control.test(this.#token)) throw new JsonError();
  }
}

/** A value as compact JSON, with its scalars as written, or as `scalarOf` writes them. */
export function writeJson(value: JsonValue, scalarOf = ({ json }: JsonScalar): string => json): string {
  switch (value.kind) {
    case 'scalar':
      return scalarOf(value);
    case 'array':
      return `[${value.items.map((item) => writeJson(item, scalarOf)).join(',')}]`;
    case 'object':
      return `{${value.members.map(([name, member]) => `${JSON.stringify(name)}:${writeJson(member, scalarOf)}`).join(',')}}`;
  }
}

/** The text of a value as a field holds it: scalars plain, null empty, the rest as JSON. */
function jsonText(value: JsonValue): string {
  return value.kind === 'scalar' ? value.text : writeJson(value);
}

/** The items of a JSON array as texts; undefined when the text is not a JSON array. */
export function jsonArrayTexts(text: string): string[] | undefined {
  const value = parseJson(text);
  return value?.kind === 'array' ? value.items.map(jsonText) : undefined;
}

/** The members of a JSON object as fields, nested names joined by dots; undefined when the text is not a JSON object. */
export function flattenJson(text: string): [string, string][] | undefined {
  const value = parseJson(text);
  if (value?.kind !== 'object') return undefined;
  const fields: [string, string][] = [];
  flattenInto(fields, '', value);
  return fields;
}

function flattenInto(fields: [string, string][], name: string, value: JsonValue): void {
  // Unlike an empty text, a null member is not a field.
  if (value.kind === 'scalar' && value.json === 'null') return;
  if (value.kind !== 'object') {
    fields.push([name, jsonText(value)]);
    return;
  }
  for (const [key, member] of value.members)
    flattenInto(fields, name === '' ? key : `${name}.${key}`, member);
}
