import type { Memory } from '../../base/memory/byte-lru.js';
import { textBytes } from '../../base/memory/sizes.js';
import type { TimeRange } from '../../base/time/range.js';
import { exact, not, oneOf, query, stats, statsFunction } from '../../victoria/logsql/build.js';
import type { LogsqlFilter, StatsFunction } from '../../victoria/logsql/ast.js';
import { printFilter } from '../../victoria/logsql/print.js';
import { detectedLevelName } from '../../victoria/names/level.js';
import type { Naming } from '../../victoria/names/naming.js';
import { defaultSeverityText } from '../../victoria/names/otlp-fill.js';
import type { StreamIdentity } from '../../victoria/names/stream-identity.js';
import { placeholderRows } from '../plan/missing-lines.js';
import type { RowReader } from '../../victoria/names/row-reader.js';
import { columnOf, isOwnColumn, type BackendRow, type BackendValue } from '../../victoria/upstream/types.js';
import type { Backend } from '../backend.js';
import { tallyOfListing } from '../metric/count/stretches.js';
import { rowsOfStreams } from '../metric/row-windows.js';

/** What a Loki chunk stores for an entry in addition to its line. */
export interface MetadataCost {
  /** Bytes per entry. */
  readonly perEntry: number;
  /** Average bytes of an entry's line; 0 where lines were not looked at. */
  readonly line: number;
  /** Bytes per stream: names and values that all of its entries share. */
  readonly perStream: number;
}

/** The cost by backend stream; streams that were not read get the average. */
export interface MetadataCosts {
  /** @param copies how many rows there are for an entry of the stream, on average */
  of(streamText: string, stream: StreamIdentity, copies: number): MetadataCost;
}

/** A pair of structured metadata is two references into the chunk's string table. */
const pairBytes = 8;
/** A stream's entries have few levels: their name and about this much text. */
const levelTexts = detectedLevelName.length + 12;
/** Counting distinct values costs memory of the backend; for more rows than this, some of the newest are used as a sample. */
const maxCountedRows = 60_000;
/** In so many parts: a sample ends at a whole number of them, up to one before its range does, and is one shorter than it could be. */
const steps = 4n;
const keptMs = 86_400_000;
const maxFields = 120;
/** The backend accepts 16 KiB of query, part of which the filter needs. */
const maxFunctionBytes = 9_000;

/** What a sample has shown. It holds as long as each stream has as many rows there, which one listing shows. */
export interface LearnedSums {
  /** The checksum of its rows per stream. */
  readonly tally: bigint;
  /** By backend stream. */
  readonly sums: ReadonlyMap<string, FieldSums>;
}

/**
 * Learns what structured metadata costs, by statistics of the backend (otel-README, rule 10), and remembers it.
 * @param listed the streams of the whole range
 * @param hasLines whether the bytes of lines are wanted too, for which the backend reads them
 */
export async function readMetadataCosts(
  filter: LogsqlFilter,
  range: TimeRange,
  { listed, hasLines }: { readonly listed: readonly BackendValue[]; readonly hasLines: boolean },
  { upstream, reader, naming }: Backend,
  learned: Memory<LearnedSums>,
): Promise<MetadataCosts> {
  const looked = sampled(range, rowsOfStreams(listed));
  const key = `${upstream.owner} ${hasLines} ${looked.startNs}-${looked.endNs} ${printFilter(filter)}`;
  const known = learned.get(key);
  const list = (listing: 'streams' | 'field_names'): Promise<readonly BackendValue[]> =>
    upstream.list({ listing, query: query(filter), range: looked });
  const [names, streams] = await Promise.all([
    known === undefined ? list('field_names') : undefined,
    looked === range ? listed : list('streams'),
  ]);
  const tally = await tallyOfListing(reader, streams);
  if (known?.tally === tally) return costsOf(known.sums);
  const stored = names ?? (await list('field_names'));
  const labelled = rowsByLabel(streams, reader);
  const fields = stored
    .filter(({ value, hits }) => !isOwnColumn(value) && labelled.get(value) !== hits)
    .sort((a, b) => b.hits - a.hits)
    .slice(0, maxFields)
    .map(({ value }) => value);
  const sums = new Map<string, FieldSums>();
  const batches = fields.length === 0 && hasLines ? [[]] : batchesOf(fields);
  for (const batch of batches) {
    const functions = [statsFunction('count', [], 'rows'), ...batch.flatMap(functionsOf)];
    if (hasLines) functions.push(lineBytes(naming));
    const answer = upstream.rows({ query: query(filter, [stats(['_stream'], ...functions)]), range: looked });
    for await (const lines of answer)
      for (const row of lines) {
        const text = row._stream ?? '{}';
        const sum = sums.get(text) ?? { rows: 0, lines: 0, pairs: 0, texts: 0, hasLevel: false };
        sums.set(text, addFields(sum, row, batch, reader.stream(text)));
      }
  }
  learned.set(key, { tally, sums }, bytesOf(sums), keptMs);
  return costsOf(sums);
}

const sumsBytes = 120;

function bytesOf(sums: LearnedSums['sums']): number {
  let bytes = sumsBytes;
  for (const text of sums.keys()) bytes += textBytes(text) + sumsBytes;
  return bytes;
}

/** How many rows have a field as a label: a field with no other rows is nowhere metadata. */
function rowsByLabel(streams: readonly BackendValue[], reader: RowReader): ReadonlyMap<string, number> {
  const rows = new Map<string, number>();
  for (const { value, hits } of streams)
    for (const name of reader.stream(value).fields.keys()) rows.set(name, (rows.get(name) ?? 0) + hits);
  return rows;
}

/** Of a backend stream. */
interface FieldSums {
  readonly rows: number;
  /** Bytes of lines. */
  readonly lines: number;
  readonly pairs: number;
  /** Bytes of distinct values. */
  readonly texts: number;
  readonly hasLevel: boolean;
}

function addFields(
  before: FieldSums,
  row: BackendRow,
  batch: readonly (readonly [field: string, index: number])[],
  stream: StreamIdentity,
): FieldSums {
  let { pairs, texts, hasLevel } = before;
  for (const [field, index] of batch) {
    if (stream.fields.has(field)) continue;
    const count = numberOf(row, `n${index}`);
    if (count === 0) continue;
    pairs += count;
    texts += Buffer.byteLength(field) + (numberOf(row, `b${index}`) / count) * numberOf(row, `u${index}`);
    hasLevel ||= field === detectedLevelName;
  }
  return { rows: numberOf(row, 'rows'), lines: numberOf(row, 'lines'), pairs, texts, hasLevel };
}

function costsOf(sums: ReadonlyMap<string, FieldSums>): MetadataCosts {
  const average = totalOf([...sums.values()]);
  return {
    of: (text, stream, copies) => {
      const own = sums.get(text);
      const { rows, lines, pairs, texts } = own === undefined || own.rows === 0 ? average : own;
      // An entry has the pairs of each of its copies; its texts are stored once, however many there are.
      const ownPerEntry = rows === 0 ? 0 : (pairs * pairBytes + texts * copies) / rows;
      const level = own?.hasLevel === true ? 0 : 1;
      const shared = stream.metadata.reduce((total, [name, value]) => total + name.length + value.length, 0);
      return {
        line: summable(rows === 0 ? 0 : lines / rows),
        perEntry: summable(ownPerEntry + (stream.metadata.length + level) * pairBytes),
        perStream: shared + level * levelTexts,
      };
    },
  };
}

function totalOf(sums: readonly FieldSums[]): Omit<FieldSums, 'hasLevel'> {
  const total = (read: (sum: FieldSums) => number): number => sums.reduce((all, sum) => all + read(sum), 0);
  return {
    rows: total(({ rows }) => rows),
    lines: total(({ lines }) => lines),
    pairs: total(({ pairs }) => pairs),
    texts: total(({ texts }) => texts),
  };
}

/** Rounds to fractions that add up to the same sum in any order. */
function summable(bytes: number): number {
  return Math.round(bytes * 256) / 256;
}

/** The bytes of lines; what the backend stores in place of a missing line counts as none. */
function lineBytes(naming: Naming): StatsFunction {
  return { ...statsFunction('sum_len', ['_msg'], 'lines'), condition: not(placeholderRows(naming)) };
}

function functionsOf([field, index]: readonly [field: string, index: number]): readonly StatsFunction[] {
  const filledIn = filledInRows(field);
  const functions = [
    statsFunction('count', [field], `n${index}`),
    statsFunction('sum_len', [field], `b${index}`),
    statsFunction('count_uniq', [field], `u${index}`),
  ];
  if (filledIn === undefined) return functions;
  return functions.map((call) => ({ ...call, condition: not(filledIn) }));
}

const severityTexts = Array.from({ length: 25 }, (_severity, number) => defaultSeverityText(String(number)));

/** The rows where the backend filled a field in that Loki does not have (otel-README, rule 7). */
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
function* batchesOf(fields: readonly string[]): Generator<readonly (readonly [string, number])[]> {
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

/** The sample of a range: the same for ranges that end at about the same time, so that what it has shown is known the next time. */
function sampled(range: TimeRange, rows: number): TimeRange {
  if (rows <= maxCountedRows) return range;
  const { startNs, endNs } = range;
  const part = ((endNs - startNs) * BigInt(maxCountedRows)) / BigInt(rows);
  const stepNs = rounded(part / steps);
  const end = endNs - (endNs % stepNs);
  return { startNs: end - stepNs * (steps - 1n), endNs: end };
}

/** A duration that is about as long, one of few; at least a nanosecond. */
function rounded(ns: bigint): bigint {
  const bits = ns.toString(2).length;
  const unit = 1n << BigInt(Math.max(0, bits - 3));
  return ns < 1n ? 1n : (ns / unit) * unit;
}

function numberOf(row: BackendRow, name: string): number {
  const value = Number(columnOf(row, name) ?? 0);
  return Number.isFinite(value) ? value : 0;
}
