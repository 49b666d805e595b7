import { type Memory, textBytes } from '../../base/memory/byte-lru.js';
import type { TimeRange } from '../../base/time/range.js';
import { and, exact, not, oneOf, query, stats, statsFunction } from '../../victoria/logsql/build.js';
import type { LogsqlFilter, StatsFunction } from '../../victoria/logsql/ast.js';
import { printFilter } from '../../victoria/logsql/print.js';
import { detectedLevelName } from '../../victoria/names/level.js';
import { defaultSeverityText } from '../../victoria/names/otlp-fill.js';
import type { StreamIdentity } from '../../victoria/names/stream-identity.js';
import { missingLineRows } from '../plan/missing-lines.js';
import type { RowReader } from '../../victoria/names/row-reader.js';
import { columnOf, isOwnColumn, type BackendRow, type BackendValue } from '../../victoria/upstream/types.js';
import type { Backend } from '../backend.js';
import type { ListedRange, StreamChecksums } from '../metric/count/stream-listing.js';
import { rowsOfStreams } from '../metric/count/time-segments.js';

/** The cost of an entry of a stream in a Loki chunk, in bytes. */
export interface EntryCost {
  /** Bytes in addition to a stored line. */
  readonly metadata: number;
  /** The share of values in `metadata`. Each value is stored once, so it is charged per stored row, however many rows an entry has. */
  readonly texts: number;
  /** Bytes of a row without a stored line: its line is built from its fields, which are not metadata then. */
  readonly rebuilt: number;
  /** Bytes of any row including its line, if lines were inspected. */
  readonly entry: number;
  /** Bytes per stream: names and values shared by all of its entries. */
  readonly shared: number;
}

/** The cost by backend stream; streams that were not read get the average. */
export interface MetadataCosts {
  of(streamText: string, stream: StreamIdentity): EntryCost;
}

/** Bytes of a pair of structured metadata, which is two references into the chunk's string table. */
const pairBytes = 8;
/** Bytes for the level of a stream's entries: its name, and about this much text, since there are few levels. */
const levelTexts = detectedLevelName.length + 12;
/**
 * Maximum number of rows to count: counting distinct values takes the backend's memory. Of more rows, some of the newest are the sample.
 */
const maxCountedRows = 60_000;
/** Parts per range of a sample. The sample ends at a multiple of a part, up to one part before its range does, and is one part shorter. */
const steps = 4n;
const keptMs = 86_400_000;
const maxFields = 120;
/** Maximum length of the statistics in a query. The backend accepts 16 KiB, part of which the filter needs. */
const maxFunctionBytes = 9_000;

/**
 * Sums learned from a sample. They stay valid while each stream has the same number of rows in the sample's range, which one listing shows.
 */
export interface LearnedSums {
  /** The checksum of the number of rows per stream. */
  readonly checksum: bigint;
  /** Sums by backend stream. */
  readonly sums: ReadonlyMap<string, FieldSums>;
}

/**
 * Learns the cost of structured metadata from statistics of the backend (otel-README, rule 10), and remembers it.
 * @param listing of the whole segments around the range; `hasLines` if the bytes of lines are wanted too, for which the backend reads them
 */
export async function readMetadataCosts(
  filter: LogsqlFilter,
  range: TimeRange,
  listing: ListedRange & { readonly hasLines: boolean },
  { upstream, reader, naming }: Backend,
  {
    metadata: learned,
    checksums,
  }: { readonly metadata: Memory<LearnedSums>; readonly checksums: StreamChecksums },
): Promise<MetadataCosts> {
  const { listed, hasLines } = listing;
  const looked = sampled(range, listing.range, rowsOfStreams(listed));
  const key = `${upstream.owner} ${hasLines} ${looked.startNs}-${looked.endNs} ${printFilter(filter)}`;
  const known = learned.get(key);
  const list = (listing: 'streams' | 'field_names'): Promise<readonly BackendValue[]> =>
    upstream.list({ listing, query: query(filter), range: looked });
  const [listedNames, streams] = await Promise.all([
    known === undefined ? list('field_names') : undefined,
    looked === listing.range ? listed : list('streams'),
  ]);
  const checksum = await checksums.ofListing(reader, streams);
  if (known?.checksum === checksum) return costsOf(known.sums);
  const names = listedNames ?? (await list('field_names'));
  const labelled = rowsByLabel(streams, reader);
  const fields = names
    .filter(({ value, hits }) => !isOwnColumn(value) && labelled.get(value) !== hits)
    .sort((a, b) => b.hits - a.hits)
    .slice(0, maxFields)
    .map(({ value }) => value);
  const sums = new Map<string, FieldSums>();
  const missing = missingLineRows(naming);
  const asked = { fields, hasLines, range: looked, upstream, reader };
  const without = await upstream.list({
    listing: 'streams',
    query: query(and(filter, missing)),
    range: looked,
  });
  if (without.length > 0) await addSums(sums, { ...asked, filter: and(filter, missing), measure: ofLines });
  const stored = without.length > 0 ? and(filter, not(missing)) : filter;
  await addSums(sums, { ...asked, filter: stored, measure: ofFields });
  learned.set(key, { checksum, sums }, bytesOf(sums), keptMs);
  return costsOf(sums);
}

const sumsBytes = 120;

function bytesOf(sums: LearnedSums['sums']): number {
  let bytes = sumsBytes;
  for (const text of sums.keys()) bytes += textBytes(text) + sumsBytes;
  return bytes;
}

/** Number of rows that have a field as a label. A field without other rows is metadata nowhere. */
function rowsByLabel(streams: readonly BackendValue[], reader: RowReader): ReadonlyMap<string, number> {
  const rows = new Map<string, number>();
  for (const { value, hits } of streams)
    for (const name of reader.stream(value).fields.keys()) rows.set(name, (rows.get(name) ?? 0) + hits);
  return rows;
}

/** Sums over the rows of a backend stream. */
interface FieldSums {
  /** Number of rows with a stored line. */
  readonly rows: number;
  /** Bytes of their lines. */
  readonly lines: number;
  readonly pairs: number;
  /** Bytes of distinct values. */
  readonly texts: number;
  readonly hasLevel: boolean;
  /** Number of rows without a stored line. */
  readonly rebuilt: number;
  /** Bytes of their lines, which are made of their fields. */
  readonly rebuiltLines: number;
}

const noSums: FieldSums = {
  rows: 0,
  lines: 0,
  pairs: 0,
  texts: 0,
  hasLevel: false,
  rebuilt: 0,
  rebuiltLines: 0,
};

type Batch = readonly (readonly [field: string, index: number])[];

interface SumsRequest extends Pick<Backend, 'upstream' | 'reader'> {
  readonly filter: LogsqlFilter;
  readonly range: TimeRange;
  readonly fields: readonly string[];
  readonly hasLines: boolean;
  readonly measure: Measure;
}

/** The statistics of fields to request, and the amounts they contribute. */
interface Measure {
  readonly functions: (field: Batch[number]) => readonly StatsFunction[];
  readonly add: (before: FieldSums, row: BackendRow, batch: Batch, stream: StreamIdentity) => FieldSums;
}

async function addSums(
  sums: Map<string, FieldSums>,
  { filter, range, fields, hasLines, measure, upstream, reader }: SumsRequest,
): Promise<void> {
  const batches = fields.length === 0 && hasLines ? [[]] : batchesOf(fields);
  for (const batch of batches) {
    const functions = [statsFunction('count', [], 'rows'), ...batch.flatMap(measure.functions)];
    if (hasLines) functions.push(statsFunction('sum_len', ['_msg'], 'lines'));
    const answer = upstream.rows({ query: query(filter, [stats(['_stream'], ...functions)]), range });
    for await (const rows of answer)
      for (const row of rows) {
        const text = row._stream ?? '{}';
        sums.set(text, measure.add(sums.get(text) ?? noSums, row, batch, reader.stream(text)));
      }
  }
}

function addFields(before: FieldSums, row: BackendRow, batch: Batch, stream: StreamIdentity): FieldSums {
  let { pairs, texts, hasLevel } = before;
  for (const [field, index] of batch) {
    if (stream.fields.has(field)) continue;
    const count = numberOf(row, `n${index}`);
    if (count === 0) continue;
    pairs += count;
    texts += Buffer.byteLength(field) + (numberOf(row, `b${index}`) / count) * numberOf(row, `u${index}`);
    hasLevel ||= field === detectedLevelName;
  }
  return { ...before, rows: numberOf(row, 'rows'), lines: numberOf(row, 'lines'), pairs, texts, hasLevel };
}

/** Bytes around a name and its value in an object, including the comma. */
const memberSigns = '"":"",'.length;

/** Adds the object members in the lines of rows without a stored one. */
function addLines(before: FieldSums, row: BackendRow, batch: Batch, stream: StreamIdentity): FieldSums {
  const rebuilt = numberOf(row, 'rows');
  // An object has two braces, and one comma less than members.
  let rebuiltLines = before.rebuilt === 0 ? rebuilt : before.rebuiltLines;
  for (const [field, index] of batch)
    if (!stream.fields.has(field))
      rebuiltLines +=
        numberOf(row, `n${index}`) * (Buffer.byteLength(field) + memberSigns) + numberOf(row, `b${index}`);
  return { ...before, rebuilt, rebuiltLines };
}

function costsOf(sums: ReadonlyMap<string, FieldSums>): MetadataCosts {
  const average = totalOf([...sums.values()]);
  return {
    of: (text, stream) => {
      const own = sums.get(text);
      const sum = own === undefined || own.rows + own.rebuilt === 0 ? average : own;
      const { rows, lines, pairs, texts, rebuilt, rebuiltLines } = sum;
      const level = own?.hasLevel === true ? 0 : 1;
      const ofStream = (stream.metadata.length + level) * pairBytes;
      const fields = pairs * pairBytes + texts;
      const shared = stream.metadata.reduce((total, [name, value]) => total + name.length + value.length, 0);
      return {
        metadata: summable(ratio(fields, rows) + ofStream),
        texts: summable(ratio(texts, rows)),
        rebuilt: summable(ratio(rebuiltLines, rebuilt) + ofStream),
        entry: summable(ratio(lines + fields + rebuiltLines, rows + rebuilt) + ofStream),
        shared: shared + level * levelTexts,
      };
    },
  };
}

function ratio(bytes: number, rows: number): number {
  return rows === 0 ? 0 : bytes / rows;
}

function totalOf(sums: readonly FieldSums[]): Omit<FieldSums, 'hasLevel'> {
  const total = (read: (sum: FieldSums) => number): number => sums.reduce((all, sum) => all + read(sum), 0);
  return {
    rows: total(({ rows }) => rows),
    lines: total(({ lines }) => lines),
    pairs: total(({ pairs }) => pairs),
    texts: total(({ texts }) => texts),
    rebuilt: total(({ rebuilt }) => rebuilt),
    rebuiltLines: total(({ rebuiltLines }) => rebuiltLines),
  };
}

/** Rounds to fractions that add up to the same sum in any order. */
function summable(bytes: number): number {
  return Math.round(bytes * 256) / 256;
}

const ofFields: Measure = {
  functions: (field) => {
    const filledIn = filledInRows(field[0]);
    const functions = [...lengthsOf(field), statsFunction('count_uniq', [field[0]], `u${field[1]}`)];
    if (filledIn === undefined) return functions;
    return functions.map((call) => ({ ...call, condition: not(filledIn) }));
  },
  add: addFields,
};

const ofLines: Measure = { functions: lengthsOf, add: addLines };

function lengthsOf([field, index]: Batch[number]): readonly StatsFunction[] {
  return [statsFunction('count', [field], `n${index}`), statsFunction('sum_len', [field], `b${index}`)];
}

const severityTexts = Array.from({ length: 25 }, (_severity, number) => defaultSeverityText(String(number)));

/** Matches rows where the backend filled in a field that Loki does not have (otel-README, rule 7). */
function filledInRows(field: string): LogsqlFilter | undefined {
  switch (field) {
    case 'severity_number':
      return exact(field, '0');
    case 'severity_text':
      return oneOf(field, severityTexts);
    case 'scope.name':
    case 'scope.version':
      return exact(field, 'unknown');
    default:
      return undefined;
  }
}

/** Numbers the fields and splits them into queries that are short enough. */
function* batchesOf(fields: readonly string[]): Generator<Batch> {
  let batch: (readonly [string, number])[] = [];
  let bytes = 0;
  for (const [index, field] of fields.entries()) {
    const size = 3 * (Buffer.byteLength(field) + 24);
    if (bytes + size > maxFunctionBytes && batch.length > 0) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push([field, index]);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

/**
 * The range to sample. It is the same for ranges that end at about the same time, so that the findings can be reused. For few rows it is
 * the whole segments around the range.
 */
function sampled({ startNs, endNs }: TimeRange, whole: TimeRange, rows: number): TimeRange {
  if (rows <= maxCountedRows) return whole;
  const part = ((endNs - startNs) * BigInt(maxCountedRows)) / BigInt(rows);
  const stepNs = rounded(part / steps);
  const end = endNs - (endNs % stepNs);
  return { startNs: end - stepNs * (steps - 1n), endNs: end };
}

/** One of a few durations, about as long as this one; at least a nanosecond. */
function rounded(ns: bigint): bigint {
  const bits = ns.toString(2).length;
  const unit = 1n << BigInt(Math.max(0, bits - 3));
  return ns < 1n ? 1n : (ns / unit) * unit;
}

function numberOf(row: BackendRow, name: string): number {
  const value = Number(columnOf(row, name) ?? 0);
  return Number.isFinite(value) ? value : 0;
}
