/** The kind of the next token in a JSON text. */
export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null' | 'end';

/** A JSON text that its reader does not expect; the message has the position. */
export class JsonReadError extends Error {}

/**
 * Reads JSON in one pass, like the iterator below Grafana's data sources: it cannot look ahead, and it cannot go back. That makes the key
 * order part of a server's contract.
 */
export class JsonReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  next(): JsonKind {
    switch (this.#peek()) {
      case '{':
        return 'object';
      case '[':
        return 'array';
      case '"':
        return 'string';
      case 't':
      case 'f':
        return 'boolean';
      case 'n':
        return 'null';
      case '':
        return 'end';
      default:
        return 'number';
    }
  }

  /** The keys of the next object; the caller must read each value before it requests the next key. */
  *keys(): Generator<string> {
    this.#expect('{');
    if (this.#take('}')) return;
    do {
      const key = this.string();
      this.#expect(':');
      yield key;
    } while (this.#take(','));
    this.#expect('}');
  }

  /** Calls `read` for each item of the next array; `read` must consume the item. */
  items(read: () => void): void {
    this.#expect('[');
    if (this.#take(']')) return;
    do read();
    while (this.#take(','));
    this.#expect(']');
  }

  /** Starts a tuple; `comma` moves to the next item and `endTuple` ends it. */
  startTuple(): void {
    this.#expect('[');
  }

  comma(): void {
    this.#expect(',');
  }

  endTuple(): void {
    this.#expect(']');
  }

  string(): string {
    this.#peek();
    const end = this.#endOfString();
    const value: unknown = JSON.parse(this.#text.slice(this.#at, end));
    this.#at = end;
    return String(value);
  }

  number(): number {
    this.#peek();
    const shape = /-?\d+(\.\d+)?([eE][+-]?\d+)?/y;
    shape.lastIndex = this.#at;
    const found = shape.exec(this.#text)?.[0];
    if (found === undefined) throw this.#unexpected('a number');
    this.#at += found.length;
    return Number(found);
  }

  /** An object whose values are all strings. */
  stringMap(): Map<string, string> {
    const map = new Map<string, string>();
    for (const key of this.keys()) map.set(key, this.string());
    return map;
  }

  /** Any value, as JSON.parse would return it. */
  any(): unknown {
    const start = this.#start();
    this.skip();
    return JSON.parse(this.#text.slice(start, this.#at)) as unknown;
  }

  /** Any value, as text. */
  raw(): string {
    const start = this.#start();
    this.skip();
    return this.#text.slice(start, this.#at);
  }

  skip(): void {
    const kind = this.next();
    switch (kind) {
      case 'object': {
        const keys = this.keys();
        while (keys.next().done !== true) this.skip();
        return;
      }
      case 'array':
        this.items(() => this.skip());
        return;
      case 'string':
        this.string();
        return;
      case 'number':
        this.number();
        return;
      case 'boolean':
      case 'null':
        this.#word();
        return;
      case 'end':
        throw this.#unexpected('a value');
    }
  }

  #start(): number {
    this.#peek();
    return this.#at;
  }

  #peek(): string {
    while (/\s/.test(this.#text.charAt(this.#at))) this.#at += 1;
    return this.#text.charAt(this.#at);
  }

  #take(sign: string): boolean {
    if (this.#peek() !== sign) return false;
    this.#at += 1;
    return true;
  }

  #expect(sign: string): void {
    if (!this.#take(sign)) throw this.#unexpected(`"${sign}"`);
  }

  #endOfString(): number {
    const shape = /"(?:[^"\\]|\\.)*"/sy;
    shape.lastIndex = this.#at;
    const found = shape.exec(this.#text)?.[0];
    if (found === undefined) throw this.#unexpected('a string');
    return this.#at + found.length;
  }

  #word(): void {
    const shape = /true|false|null/y;
    shape.lastIndex = this.#at;
    const found = shape.exec(this.#text)?.[0];
    if (found === undefined) throw this.#unexpected('a value');
    this.#at += found.length;
  }

  #unexpected(wanted: string): JsonReadError {
    const seen = this.#text.slice(this.#at, this.#at + 40);
    return new JsonReadError(`expected ${wanted} at ${this.#at}, found ${seen === '' ? 'the end' : seen}`);
  }
}
