/**
 * As much of protobuf's wire format (https://protobuf.dev/programming-guides/encoding/) as OTLP takes: seven forms of fields to write, and
 * answers of a few bytes to read. A library would be larger than this and bring its own descriptions of the messages.
 */

const [varint, fixed64, delimited, fixed32] = [0, 1, 2, 5] as const;

/** A message while it is written; numbers of fields are those of its definition. */
export class Message {
  readonly #parts: Buffer[] = [];

  text(field: number, value: string): this {
    return this.bytes(field, Buffer.from(value));
  }

  /** A message within this one, or bytes. */
  bytes(field: number, value: Buffer): this {
    this.#parts.push(head(field, delimited), varintOf(value.length), value);
    return this;
  }

  /** A whole number that is not negative. */
  whole(field: number, value: number): this {
    this.#parts.push(head(field, varint), varintOf(value));
    return this;
  }

  fixed(field: number, value: bigint): this {
    this.#parts.push(
      head(field, fixed64),
      eightBytes(1, (buffer) => buffer.writeBigUInt64LE(value)),
    );
    return this;
  }

  double(field: number, value: number): this {
    this.#parts.push(
      head(field, fixed64),
      eightBytes(1, (buffer) => buffer.writeDoubleLE(value)),
    );
    return this;
  }

  fixedList(field: number, values: readonly number[]): this {
    const written = eightBytes(values.length, (buffer) => {
      for (const [at, value] of values.entries()) buffer.writeBigUInt64LE(BigInt(value), at * 8);
    });
    return this.bytes(field, written);
  }

  doubleList(field: number, values: readonly number[]): this {
    const written = eightBytes(values.length, (buffer) => {
      for (const [at, value] of values.entries()) buffer.writeDoubleLE(value, at * 8);
    });
    return this.bytes(field, written);
  }

  /** The message as it is sent. */
  done(): Buffer {
    return Buffer.concat(this.#parts);
  }
}

function head(field: number, form: number): Buffer {
  return varintOf(field * 8 + form);
}

function varintOf(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}

function eightBytes(count: number, write: (buffer: Buffer) => void): Buffer {
  const buffer = Buffer.alloc(count * 8);
  write(buffer);
  return buffer;
}

/** The last value of each field of a message: of numbers the number, else the bytes. Undefined where the bytes are no message. */
export function fieldsOf(bytes: Buffer): ReadonlyMap<number, number | Buffer> | undefined {
  const found = new Map<number, number | Buffer>();
  let at = 0;
  const readVarint = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at];
      if (byte === undefined) return NaN;
      at += 1;
      value += (byte % 128) * scale;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = readVarint();
    const field = Math.floor(tag / 8);
    switch (tag % 8) {
      case varint:
        found.set(field, readVarint());
        break;
      case delimited: {
        const end = readVarint() + at;
        if (!(end <= bytes.length)) return undefined;
        found.set(field, bytes.subarray(at, end));
        at = end;
        break;
      }
      case fixed64:
        at += 8;
        break;
      case fixed32:
        at += 4;
        break;
      default:
        return undefined;
    }
  }
  return at === bytes.length ? found : undefined;
}
