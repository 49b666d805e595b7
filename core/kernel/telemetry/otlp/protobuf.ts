/**
 * As much of protobuf's wire format (https://protobuf.dev/programming-guides/encoding/) as OTLP takes: seven forms of fields to write
 * (answers are read by core/base/protobuf-fields.ts). A library would be larger than this and bring its own descriptions of the messages.
 */

const [varint, fixed64, delimited] = [0, 1, 2] as const;

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
