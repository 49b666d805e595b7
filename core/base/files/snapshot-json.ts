import { crc32 } from 'node:zlib';

/** `{"version":1,"saved_at_unix_nano":n,<others>,"<member>":{...},"crc32":n}`; the checksum is of all bytes before its comma. */
export interface SnapshotFormat {
  readonly version: number;
  /** The member that contains the entries. */
  readonly member: string;
  /** Levels of names above an entry: `{"<name>":<entry>}` or `{"<name>":{"<name>":<entry>}}`. */
  readonly depth: 1 | 2;
}

/** An entry with the names that lead to it. */
export interface WrittenEntry {
  readonly names: readonly string[];
  /** The entry as JSON. */
  readonly json: string;
}

/** Short members of a snapshot beside its entries, by name. */
export type OtherMembers = Readonly<Record<string, unknown>>;

/** Takes an entry as parsed by JSON.parse; throws if it is invalid. */
export type AddEntry = (names: readonly string[], value: unknown) => void;

/** Optional parameters of reading a snapshot. */
export interface Reading {
  /** An empty map, filled with the members beside the entries. */
  readonly others?: Map<string, unknown>;
  /** Awaited between pieces of the file. It may process the entries added so far, so that they need not all be in memory. */
  readonly settle?: () => Promise<void>;
}

/** The reason why a file cannot be used: it is not such a snapshot, has another version, or is damaged. */
export type SnapshotDefect = 'foreign' | 'other version' | 'damaged';

export class UnusableSnapshot extends Error {
  override readonly name = 'UnusableSnapshot';
  constructor(
    readonly defect: SnapshotDefect,
    cause?: unknown,
  ) {
    super(defect, { cause });
  }
}

/** Maximum size of an entry, which is parsed in one turn of the event loop. */
export const maxEntryBytes = 8 * 1024 * 1024;

/** The text of a snapshot in pieces, leaving out entries that are too large. Entries with the same first name must be adjacent. */
export function* snapshotText(
  { version, member, depth }: SnapshotFormat,
  savedAtMs: number,
  entries: Iterable<WrittenEntry>,
  others: OtherMembers = {},
): Generator<string, void, void> {
  yield `{"version":${version},"saved_at_unix_nano":${unixNano(savedAtMs)},`;
  for (const [name, value] of Object.entries(others))
    yield `${JSON.stringify(name)}:${JSON.stringify(value)},`;
  yield `${JSON.stringify(member)}:{`;
  let group: string | undefined;
  for (const { names, json } of entries) {
    // A UTF-16 code unit takes at most three bytes.
    if (json.length > maxEntryBytes / 3 && Buffer.byteLength(json) > maxEntryBytes) continue;
    const [first = '', second = ''] = names;
    const comma = group === undefined ? '' : ',';
    if (depth === 1) yield `${comma}${JSON.stringify(first)}:${json}`;
    else if (first === group) yield `,${JSON.stringify(second)}:${json}`;
    else
      yield `${group === undefined ? '' : '},'}${JSON.stringify(first)}:{${JSON.stringify(second)}:${json}`;
    group = first;
  }
  yield depth === 2 && group !== undefined ? '}}' : '}';
}

/** The end of a snapshot whose text has this checksum. */
export function snapshotEnd(checksum: number): string {
  return `,"crc32":${checksum}}\n`;
}

/** Unix nanoseconds in decimal, because a number cannot hold them exactly. */
export function unixNano(ms: number): string {
  return `${Math.round(ms)}000000`;
}

/** Converts Unix nanoseconds, as parsed by JSON.parse, to milliseconds; throws for a value that is not a time. */
export function msOfUnixNano(ns: unknown): number {
  if (typeof ns !== 'number' || !(ns >= 0))
    throw new Error(`not a Unix timestamp in nanoseconds: ${String(ns)}`);
  return Math.round(ns / 1e6);
}

/** A parser that yields when it needs more bytes; it is resumed with an empty buffer at the end of the file. */
type Parsing<Result> = Generator<undefined, Result, Buffer>;

/**
 * Parses the text of a snapshot and adds its entries, which are valid only once all of it has been read.
 * @param members an empty map, filled with the members beside the entries
 * @returns the time of writing in Unix milliseconds
 * @throws UnusableSnapshot
 */
export function* parseSnapshot(
  format: SnapshotFormat,
  add: AddEntry,
  members = new Map<string, unknown>(),
): Parsing<number> {
  const source = new Source();
  try {
    yield* source.take('{');
    for (let isFirst = true; ; isFirst = false) {
      const { checksum } = source;
      if (!(yield* source.hasMember(isFirst))) break;
      const name = yield* source.name();
      if (members.has(name)) throw new Error(`two members ${name}`);
      if (name !== format.member) members.set(name, yield* source.value());
      else members.set(name, yield* entriesOf(source, [], format.depth, add));
      if (name === 'version' && members.get(name) !== format.version)
        throw new UnusableSnapshot(typeof members.get(name) === 'number' ? 'other version' : 'foreign');
      if (name === 'crc32' && members.get(name) !== checksum) throw new Error('the checksum does not match');
    }
    yield* source.end();
    if (!members.has('version') || !members.has(format.member)) throw new UnusableSnapshot('foreign');
    return msOfUnixNano(members.get('saved_at_unix_nano') ?? 0);
  } catch (error) {
    if (error instanceof UnusableSnapshot) throw error;
    throw new UnusableSnapshot(members.has('version') ? 'damaged' : 'foreign', error);
  }
}

function* entriesOf(
  source: Source,
  names: readonly string[],
  depth: number,
  add: AddEntry,
): Parsing<undefined> {
  yield* source.take('{');
  for (let isFirst = true; yield* source.hasMember(isFirst); isFirst = false) {
    const path = [...names, yield* source.name()];
    if (depth > 1) yield* entriesOf(source, path, depth - 1, add);
    else add(path, yield* source.value());
  }
  return undefined;
}

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];

/** A JSON document that arrives in pieces: yields its members one by one, and their values as JSON.parse returns them. */
class Source {
  #piece: Buffer = Buffer.alloc(0);
  #at = 0;
  #checksum = 0;

  /** Checksum of all bytes read so far. */
  get checksum(): number {
    return crc32(this.#piece.subarray(0, this.#at), this.#checksum);
  }

  /** Consumes the comma between two members, or the end of their object. */
  *hasMember(isFirst: boolean): Parsing<boolean> {
    if ((yield* this.#peek()) === closeBrace) {
      this.#at += 1;
      return false;
    }
    if (!isFirst) yield* this.take(',');
    return true;
  }

  *name(): Parsing<string> {
    const name = yield* this.value();
    if (typeof name !== 'string') throw new Error('a member has no name');
    yield* this.take(':');
    return name;
  }

  *take(sign: string): Parsing<void> {
    const byte = yield* this.#peek();
    if (byte !== sign.charCodeAt(0)) throw new Error(`${sign} is missing`);
    this.#at += 1;
  }

  *end(): Parsing<void> {
    if ((yield* this.#peek()) !== undefined) throw new Error('unexpected data at the end');
  }

  *value(): Parsing<unknown> {
    yield* this.#peek();
    const parts: Buffer[] = [];
    const end = new ValueEnd();
    for (let bytes = 0; ;) {
      const from = this.#at;
      this.#at = end.find(this.#piece, from);
      bytes += this.#at - from;
      if (bytes > maxEntryBytes) throw new Error(`an entry of more than ${maxEntryBytes} bytes`);
      parts.push(this.#piece.subarray(from, this.#at));
      if (end.isFound || !this.#goOn(yield)) break;
    }
    const [only] = parts;
    const whole = parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
    return JSON.parse(whole.toString()) as unknown;
  }

  /** The next byte that is not white space; undefined at the end. */
  *#peek(): Parsing<number | undefined> {
    for (;;) {
      for (; this.#at < this.#piece.length; this.#at += 1) {
        const byte = this.#piece[this.#at];
        if (byte !== undefined && byte > 0x20) return byte;
      }
      if (!this.#goOn(yield)) return undefined;
    }
  }

  #goOn(piece: Buffer): boolean {
    this.#checksum = crc32(this.#piece, this.#checksum);
    this.#piece = piece;
    this.#at = 0;
    return piece.length > 0;
  }
}

/** Finds the end of a JSON value that may span several pieces. */
class ValueEnd {
  /** True once the end was found. A number ends only at the byte after it. */
  isFound = false;
  #depth = 0;
  #isText = false;
  #isEscaped = false;

  /** The index after the value, or the length of the piece. */
  find(piece: Buffer, from: number): number {
    for (let at = from; at < piece.length; at += 1) {
      const byte = piece[at];
      if (this.#isText) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === backslash) this.#isEscaped = true;
        else if (byte === quote) {
          this.#isText = false;
          if (this.#depth === 0) return this.#found(at + 1);
        }
      } else if (byte === quote) this.#isText = true;
      else if (byte === openBrace || byte === openBracket) this.#depth += 1;
      else if (byte === closeBrace || byte === closeBracket) {
        if (this.#depth === 0) return this.#found(at);
        this.#depth -= 1;
        if (this.#depth === 0) return this.#found(at + 1);
      } else if (this.#depth === 0 && (byte === comma || byte === colon)) return this.#found(at);
    }
    return piece.length;
  }

  #found(at: number): number {
    this.isFound = true;
    return at;
  }
}
