import { crc32 } from 'node:zlib';

/** `{"version":1,"saved_at_unix_nano":n,<others>,"<member>":{...},"crc32":n}`; the checksum is of all bytes before its comma. */
export interface SnapshotFormat {
  readonly version: number;
  /** The member with the entries. */
  readonly member: string;
  /** How many names lead to an entry in it: `{"<name>":<entry>}` or `{"<name>":{"<name>":<entry>}}`. */
  readonly depth: 1 | 2;
}

/** An entry with the names that lead to it. */
export interface WrittenEntry {
  readonly names: readonly string[];
  /** What it is as JSON. */
  readonly json: string;
}

/** Short members of a snapshot beside its entries, by name. */
export type OtherMembers = Readonly<Record<string, unknown>>;

/** Takes an entry as JSON.parse gives it; throws for one that is none. */
export type AddEntry = (names: readonly string[], value: unknown) => void;

/** What else reading a snapshot is about. */
export interface Reading {
  /** An empty map, for what stands beside the entries. */
  readonly others?: Map<string, unknown>;
  /** Waited for between pieces of the file: may work on what has been added, so that it need not all be held. */
  readonly settle?: () => Promise<void>;
}

/** Why a file cannot be used: it is no such snapshot, one of another version, or damaged. */
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

/** The most bytes of an entry: it is parsed in one turn of the event loop. */
export const maxEntryBytes = 8 * 1024 * 1024;

/** The pieces of the text of a snapshot, without entries that are too large. Those with the same first name must follow each other. */
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
    // A unit of UTF-16 has three bytes at most.
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

/** What follows the text with this checksum. */
export function snapshotEnd(checksum: number): string {
  return `,"crc32":${checksum}}\n`;
}

/** Unix nanoseconds in digits, which a number does not hold exactly. */
export function unixNano(ms: number): string {
  return `${Math.round(ms)}000000`;
}

/** Unix milliseconds of Unix nanoseconds as JSON.parse reads them; throws for what is no time. */
export function msOfUnixNano(ns: unknown): number {
  if (typeof ns !== 'number' || !(ns >= 0)) throw new Error(`no Unix nanoseconds: ${String(ns)}`);
  return Math.round(ns / 1e6);
}

/** Waits for the next bytes wherever those at hand end, and for none at the end. */
type Parsing<Result> = Generator<undefined, Result, Buffer>;

/**
 * Reads the text of a snapshot and adds its entries; they are right only when all of it was read.
 * @param members an empty map, for what stands beside the entries
 * @returns when it was saved, in Unix milliseconds
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
      if (name === 'crc32' && members.get(name) !== checksum) throw new Error('the checksum is another one');
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

/** JSON in pieces: its members one after the other, and values as JSON.parse reads them. */
class Source {
  #piece: Buffer = Buffer.alloc(0);
  #at = 0;
  #checksum = 0;

  /** Of all bytes so far. */
  get checksum(): number {
    return crc32(this.#piece.subarray(0, this.#at), this.#checksum);
  }

  /** Goes past the comma between two members, or past the end of their object. */
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
    if ((yield* this.#peek()) !== undefined) throw new Error('something follows');
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

  /** The next byte that is no white space; undefined at the end. */
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

/** Where a JSON value ends that may continue in the next piece. */
class ValueEnd {
  /** Whether the value needs no more bytes; a number ends only where something follows. */
  isFound = false;
  #depth = 0;
  #isText = false;
  #isEscaped = false;

  /** The index behind the value, or behind the piece. */
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
