/** Reads protobuf's wire format: https://protobuf.dev/programming-guides/encoding/. */

/** Reads the fields of one message. Every method throws an Error when the message is truncated. */
class Reader {
  readonly #buf: Buffer;
  #at = 0;

  constructor(buf: Buffer) {
    this.#buf = buf;
  }

  get done(): boolean {
    return this.#at >= this.#buf.length;
  }

  varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#buf[this.#at++];
      if (byte === undefined) throw new Error('unexpected end of protobuf message');
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, value);
    }
    throw new Error('malformed protobuf varint');
  }

  bytes(): Buffer {
    return this.#take(Number(this.varint()));
  }

  skip(wireType: number): void {
    if (wireType === 0) this.varint();
    else if (wireType === 1) this.#take(8);
    else if (wireType === 2) this.bytes();
    else if (wireType === 5) this.#take(4);
    else throw new Error(`unexpected protobuf wire type ${wireType}`);
  }

  #take(length: number): Buffer {
    const end = this.#at + length;
    if (length < 0 || end > this.#buf.length) throw new Error('unexpected end of protobuf message');
    const piece = this.#buf.subarray(this.#at, end);
    this.#at = end;
    return piece;
  }
}

/** Calls `onField` with each field number and wire type; fields for which it returns false are skipped. */
export function eachField(
  buf: Buffer,
  onField: (field: number, reader: Reader, wireType: number) => boolean,
): void {
  const reader = new Reader(buf);
  while (!reader.done) {
    const tag = Number(reader.varint());
    const wireType = tag & 7;
    if (!onField(tag >> 3, reader, wireType)) reader.skip(wireType);
  }
}

/** The last value of each field of a message: the number for numeric fields, else the bytes. Undefined if the bytes are not a message. */
export function fieldsOf(bytes: Buffer): ReadonlyMap<number, number | Buffer> | undefined {
  const found = new Map<number, number | Buffer>();
  try {
    eachField(bytes, (field, reader, wireType) => {
      if (wireType === 0) found.set(field, Number(reader.varint()));
      else if (wireType === 2) found.set(field, reader.bytes());
      else return false;
      return true;
    });
  } catch {
    return undefined;
  }
  return found;
}
