/**
 * Findings of a time segment as JSON, for snapshot files and other replicas. The names of members are the format of both. The parsers
 * accept any value and throw if it is not a finding.
 */
import type { BackendRow } from '../../../victoria/upstream/types.js';
import type { DenseRepeats } from './found-repeats.js';
import type { StreamTimes } from './repeated-times.js';
import type { SegmentProfile } from './profile.js';
import type { UncertainRow } from './uncertain-rows.js';

export function printFact(fact: SegmentProfile): string {
  return JSON.stringify(fact, (_name, value: unknown) => {
    if (typeof value === 'bigint') return String(value);
    if (value instanceof Set) return [...(value as ReadonlySet<unknown>)];
    return value instanceof BigInt64Array ? base64Of(value) : value;
  });
}

/** Throws for anything else. */
export function parseFact(json: unknown): SegmentProfile {
  const of = membersOf(json);
  return {
    checksum: integerOf(of['checksum']),
    streamsWithSharedTimes: new Set(textsOf(of['streamsWithSharedTimes'])),
    repeatedAt: ifAny(of['repeatedAt'], (times) => listOf(times, integerOf)),
    surplus: ifAny(of['surplus'], (rows) => listOf(rows, rowOf)),
    surplusAt: ifAny(of['surplusAt'], (all) => listOf(all, streamTimesOf)),
    denseRows: countOf(of['denseRows']),
    dense: listOf(of['dense'], denseOf),
    missing: countOf(of['missing']),
    hasLines: booleanOf(of['hasLines']),
    hasOverrides: booleanOf(of['hasOverrides']),
    misparsedRows: countOf(of['misparsedRows']),
    uncertainStreams: ifAny(of['uncertainStreams'], (texts) => new Set(textsOf(texts))),
    uncertainRows: listOf(of['uncertainRows'], uncertainRowOf),
    streamsWithLevel: ifAny(of['streamsWithLevel'], (texts) => new Set(textsOf(texts))),
  };
}

function denseOf(json: unknown): DenseRepeats {
  const { range, streams, columns } = membersOf(json);
  const { startNs, endNs } = membersOf(range);
  return {
    range: { startNs: integerOf(startNs), endNs: integerOf(endNs) },
    ...{ streams: new Set(textsOf(streams)), columns: textsOf(columns) },
  };
}

function uncertainRowOf(json: unknown): UncertainRow {
  const { row, countedLevel, level } = membersOf(json);
  return { row: rowOf(row), countedLevel: textOf(countedLevel), level: textOf(level) };
}

function streamTimesOf(json: unknown): StreamTimes {
  const { stream, times } = membersOf(json);
  return { stream: textOf(stream), times: integersOf(times) };
}

function rowOf(json: unknown): BackendRow {
  for (const value of Object.values(membersOf(json))) textOf(value);
  return json as BackendRow;
}

type Members = Readonly<Partial<Record<string, unknown>>>;

function membersOf(json: unknown): Members {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw new Error('no object');
  return json as Members;
}

function listOf<Item>(json: unknown, itemOf: (item: unknown) => Item): readonly Item[] {
  if (!Array.isArray(json)) throw new Error('no list');
  return json.map(itemOf);
}

function textsOf(json: unknown): readonly string[] {
  return listOf(json, textOf);
}

function textOf(json: unknown): string {
  if (typeof json !== 'string') throw new Error('no text');
  return json;
}

function booleanOf(json: unknown): boolean {
  if (typeof json !== 'boolean') throw new Error('no boolean');
  return json;
}

function countOf(json: unknown): number {
  if (typeof json !== 'number' || !Number.isSafeInteger(json) || json < 0) throw new Error('no count');
  return json;
}

/** An integer in decimal digits, since a JSON number would not be exact. */
function integerOf(json: unknown): bigint {
  if (typeof json !== 'string' || !/^-?\d{1,20}$/.test(json)) throw new Error('no digits');
  return BigInt(json);
}

/** Integers as the base64 text of their bytes, since there may be 100,000. */
function base64Of({ buffer, byteOffset, byteLength }: BigInt64Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}

function integersOf(json: unknown): BigInt64Array {
  const bytes = Buffer.from(textOf(json), 'base64');
  if (bytes.length % BigInt64Array.BYTES_PER_ELEMENT !== 0) throw new Error('no integers');
  return new BigInt64Array(Uint8Array.from(bytes).buffer);
}

/** Reads a value that may be missing. */
function ifAny<Value>(json: unknown, read: (json: unknown) => Value): Value | undefined {
  return json === undefined ? undefined : read(json);
}
