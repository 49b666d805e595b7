import { parseLabels } from './loki-labels.js';
import type { LokiEntry, LokiStream } from './loki-push.js';

/** Reads fields of one protobuf message; unknown fields are skipped. */
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
    const length = Number(this.varint());
    const end = this.#at + length;
    if (length < 0 || end > this.#buf.length) throw new Error('unexpected end of protobuf message');
    const piece = this.#buf.subarray(this.#at, end);
    this.#at = end;
    return piece;
  }

  skip(wireType: number): void {
    if (wireType === 0) this.varint();
    else if (wireType === 1) this.#at += 8;
    else if (wireType === 2) this.bytes();
    else if (wireType === 5) this.#at += 4;
    else throw new Error(`unexpected protobuf wire type ${wireType}`);
  }
}

/** Calls `onField` with each field number; it returns false for fields it did not read. */
function eachField(buf: Buffer, onField: (field: number, reader: Reader) => boolean): void {
  const reader = new Reader(buf);
  while (!reader.done) {
    const tag = Number(reader.varint());
    if (!onField(tag >> 3, reader)) reader.skip(tag & 7);
  }
}

/** Decodes the protobuf form of a Loki push request (already decompressed); throws on malformed input. */
export function decodeLokiPush(buf: Buffer): LokiStream[] {
  const streams: LokiStream[] = [];
  eachField(buf, (field, reader) => {
    if (field !== 1) return false;
    streams.push(decodeStream(reader.bytes()));
    return true;
  });
  return streams;
}

function decodeStream(buf: Buffer): LokiStream {
  let labels: readonly (readonly [string, string])[] = [];
  const entries: LokiEntry[] = [];
  eachField(buf, (field, reader) => {
    if (field === 1) labels = parseLabels(reader.bytes().toString('utf8'));
    else if (field === 2) entries.push(decodeEntry(reader.bytes()));
    else return false;
    return true;
  });
  return { labels, entries };
}

function decodeEntry(buf: Buffer): LokiEntry {
  let timeNs = 0n;
  let line = '';
  const metadata: (readonly [string, string])[] = [];
  eachField(buf, (field, reader) => {
    if (field === 1) timeNs = decodeTimestamp(reader.bytes());
    else if (field === 2) line = reader.bytes().toString('utf8');
    else if (field === 3) metadata.push(decodePair(reader.bytes()));
    else return false;
    return true;
  });
  return { timeNs, line, metadata };
}

function decodeTimestamp(buf: Buffer): bigint {
  let seconds = 0n;
  let nanos = 0n;
  eachField(buf, (field, reader) => {
    if (field === 1) seconds = reader.varint();
    else if (field === 2) nanos = reader.varint();
    else return false;
    return true;
  });
  return seconds * 1_000_000_000n + nanos;
}

function decodePair(buf: Buffer): readonly [string, string] {
  let name = '';
  let value = '';
  eachField(buf, (field, reader) => {
    if (field === 1) name = reader.bytes().toString('utf8');
    else if (field === 2) value = reader.bytes().toString('utf8');
    else return false;
    return true;
  });
  return [name, value];
}
