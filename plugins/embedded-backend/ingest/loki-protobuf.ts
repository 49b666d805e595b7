import { eachField } from '../../../core/base/protobuf-fields.js';
import { parsePushedLabels } from './loki-labels.js';
import type { LokiEntry, LokiStream } from './loki-push.js';

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
    if (field === 1) labels = parsePushedLabels(reader.bytes().toString('utf8'));
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
