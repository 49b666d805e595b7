import { flattenLine } from './json-flatten.js';
import type { RowSink } from './row-sink.js';

/** One pushed entry, in either encoding. */
export interface LokiEntry {
  readonly timeNs: bigint;
  readonly line: string;
  readonly metadata: readonly (readonly [string, string])[];
}

/** The entries of one label set. */
export interface LokiStream {
  readonly labels: readonly (readonly [string, string])[];
  readonly entries: readonly LokiEntry[];
}

/** Parses the JSON form of a push request; throws with the reason if it is malformed. */
export function parseLokiJson(text: string): LokiStream[] {
  const body: unknown = JSON.parse(text);
  if (!isRecord(body) || !Array.isArray(body['streams']))
    throw new Error('missing `streams` item in the parsed JSON');
  return (body['streams'] as unknown[]).map((item) => {
    if (!isRecord(item)) throw new Error('unexpected item in `streams`; want an object');
    const values: unknown = item['values'] ?? [];
    if (!Array.isArray(values)) throw new Error('unexpected `values`; want an array');
    return { labels: stringPairs(item['stream'], 'stream'), entries: (values as unknown[]).map(parseEntry) };
  });
}

function parseEntry(value: unknown): LokiEntry {
  if (!Array.isArray(value) || value.length < 2 || value.length > 3) {
    throw new Error('unexpected number of values in a log line; want 2 or 3');
  }
  const [time, line, metadata] = value as unknown[];
  if (typeof time !== 'string' && typeof time !== 'number')
    throw new Error('unexpected log timestamp; want a string');
  if (!/^-?\d{1,19}$/.test(String(time)))
    throw new Error(`cannot parse log timestamp ${JSON.stringify(time)}`);
  if (typeof line !== 'string') throw new Error('unexpected log line; want a string');
  return { timeNs: BigInt(time), line, metadata: stringPairs(metadata, 'structured metadata') };
}

function stringPairs(value: unknown, what: string): (readonly [string, string])[] {
  if (value === undefined || value === null) return [];
  if (!isRecord(value)) throw new Error(`unexpected ${what}; want an object`);
  return Object.entries(value).map(([name, item]) => {
    if (typeof item !== 'string')
      throw new Error(`unexpected ${what} value of ${JSON.stringify(name)}; want a string`);
    return [name, item] as const;
  });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Stores the entries of one stream: labels become stream fields, structured metadata becomes ordinary fields. Unless `keepMessage` is set,
 * a line that is a JSON object is replaced by its fields. False if the store is full.
 */
export function ingestLokiStream(
  stream: LokiStream,
  keepMessage: boolean,
  sink: RowSink,
  nowNs: bigint,
): boolean {
  const target = sink.streamOf(stream.labels);
  for (const entry of stream.entries) {
    const fields = new Map(entry.metadata);
    const parsed = keepMessage || !entry.line.startsWith('{') ? undefined : flattenLine(entry.line);
    if (parsed === undefined) fields.set('_msg', entry.line);
    else for (const [name, value] of parsed) fields.set(name === '' ? '_msg' : name, value);
    if (!sink.add(target, entry.timeNs === 0n ? nowNs : entry.timeNs, fields)) return false;
  }
  return true;
}
