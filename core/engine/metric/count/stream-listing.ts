import { createHash, randomBytes } from 'node:crypto';
import { oncePerObject } from '../../../base/memory/account.js';
import { ofKey } from '../../../base/memory/byte-lru.js';
import type { TimeRange } from '../../../base/time/range.js';
import type { Stage } from '../../../logql/ast.js';
import { labelName } from '../../../logql/pipeline/slot.js';
import { descriptorOf } from '../../../logql/stages/index.js';
import type { LogsqlFilter, LogsqlPipe } from '../../../victoria/logsql/ast.js';
import { and, exact, matcher, not, or, present, query, streamMatch } from '../../../victoria/logsql/build.js';
import type { Naming } from '../../../victoria/names/naming.js';
import { mayBeFilledIn } from '../../../victoria/names/otlp-fill.js';
import type { RowReader } from '../../../victoria/names/row-reader.js';
import type { StreamIdentity } from '../../../victoria/names/stream-identity.js';
import { atPace, eachStep, Pacer, type Steps } from '../../../base/pace/steps.js';
import {
  isOwnColumn,
  type BackendValue,
  type ListingRequest,
  type StreamsAndNames,
  type Upstream,
} from '../../../victoria/upstream/types.js';
import type { Backend } from '../../backend.js';
import type { ComparedLabels } from '../../plan/columns.js';
import { countRows } from '../../rows/count-by-time.js';
import { byOutcome, classesOf } from './labels/outcomes.js';
import { wholeSegments } from './time-segments.js';

/** Number of streams handled per step. */
const stepStreams = 100;

/** A range with the streams of a selection that the backend lists there, each with its number of rows. */
export interface ListedRange {
  readonly range: TimeRange;
  readonly listed: readonly BackendValue[];
}

/** The streams of a selection in the whole segments around a range, and the names of all fields that their rows may have. */
export interface StreamListing extends ListedRange {
  /** Streams by their `_stream` text. */
  readonly streams: ReadonlyMap<string, StreamIdentity>;
  readonly fields: readonly string[];
}

/** True if there may be rows from OTLP exporters, whose fields may be filled in or renamed. They have a severity number. */
export function mayHaveOtlp({ streams, fields }: Pick<StreamListing, 'streams' | 'fields'>): boolean {
  return (
    fields.includes('severity_number') && [...streams.values()].some(({ looksLikeOtlp }) => looksLikeOtlp)
  );
}

/** Lists streams and fields, which takes the backend little time for a selection without line filters. */
export async function listSelection(
  selection: LogsqlFilter,
  within: TimeRange,
  { upstream, reader, signal }: Pick<Backend, 'upstream' | 'reader'> & { readonly signal: AbortSignal },
): Promise<StreamListing> {
  const range = wholeSegments(within);
  const asked = { query: query(selection), range };
  const { streams, names } = (await upstream.listBoth?.(asked)) ?? (await listEach(upstream, asked));
  return {
    streams: await atPace(readStreams(streams, reader), new Pacer(signal)),
    range,
    listed: streams,
    fields: names
      .map(({ value }) => value)
      .filter((name) => !isOwnColumn(name))
      .sort(),
  };
}

/** Maximum number of fields in a condition for rows without any of them. */
const maxFields = 300;

/** Matches rows without a field of their own, whose rebuilt line is empty; undefined if there are too many fields. */
export function rowsWithoutFields(
  listing: Pick<StreamListing, 'fields' | 'streams'>,
): LogsqlFilter | undefined {
  const own = lineFieldsOf(listing);
  if (own === undefined || own.length > maxFields) return undefined;
  return and(
    ...own.map(({ name, isClashing }) =>
      not(isClashing ? and(streamMatch(matcher(name, '=', '')), present(name)) : present(name)),
    ),
  );
}

/** True if there may be rows without any field of their own. Their line is empty, which is not JSON. */
export async function mayHaveEmptyLines(
  filter: LogsqlFilter,
  listing: Pick<StreamListing, 'fields' | 'streams'>,
  range: TimeRange,
  { upstream }: { readonly upstream: Upstream },
): Promise<boolean> {
  const empty = rowsWithoutFields(listing);
  return empty === undefined || (await countRows(upstream, and(filter, empty), range)) > 0;
}

/** A field that rebuilt lines have. */
interface OwnField {
  readonly name: string;
  /** True if it is a field of some streams, in whose lines it is not. */
  readonly isClashing: boolean;
}

/** The fields of rebuilt lines; undefined if the name of one would be a prefix, with its asterisk. */
export function lineFieldsOf({
  fields: names,
  streams,
}: Pick<StreamListing, 'fields' | 'streams'>): readonly OwnField[] | undefined {
  const ofStreams = streamFields(streams);
  const own = names.filter((name) => (ofStreams.get(name) ?? 0) < streams.size);
  if (own.some((name) => name.includes('*'))) return undefined;
  return own.map((name) => ({ name, isClashing: ofStreams.has(name) }));
}

/** The fields that identify streams, each with the number of streams that have it. */
export const streamFields = oncePerObject(
  (streams: StreamListing['streams']): ReadonlyMap<string, number> => {
    const counts = new Map<string, number>();
    for (const { fields } of streams.values())
      for (const name of fields.keys()) counts.set(name, (counts.get(name) ?? 0) + 1);
    return counts;
  },
);

/**
 * The stream fields in which rows must have the values of their streams to be grouped by these columns. If all labels are visible, a row with
 * another value has one more label, so these are all fields that every stream has.
 */
export function fieldsToHold(
  names: ReadonlySet<string> | 'all',
  streamKeyColumns: readonly string[],
  { streams }: StreamListing,
): readonly string[] {
  if (names !== 'all') return streamKeyColumns;
  return [...streamFields(streams)].flatMap(([name, count]) => (count === streams.size ? [name] : []));
}

async function listEach(
  upstream: Upstream,
  asked: Omit<ListingRequest, 'listing'>,
): Promise<StreamsAndNames> {
  const [streams, names] = await Promise.all([
    upstream.list({ listing: 'streams', ...asked }),
    upstream.list({ listing: 'field_names', ...asked }),
  ]);
  return { streams, names };
}

/** The identities of the listed streams, by `_stream` text. */
export function* readStreams(
  listed: readonly BackendValue[],
  reader: RowReader,
): Steps<ReadonlyMap<string, StreamIdentity>> {
  const streams = new Map<string, StreamIdentity>();
  for (const { value } of listed) {
    streams.set(value, reader.stream(value));
    if (streams.size % stepStreams === 0) yield;
  }
  return streams;
}

/** Maximum number of conditions for rows that override a value; with more, their values are read instead. */
const maxConditions = 100;

/** Matches rows with another value in one of these fields than their stream has; undefined if that takes too many conditions. */
export function overridingRows(
  columns: readonly string[],
  streams: ReadonlyMap<string, StreamIdentity>,
): LogsqlFilter | undefined {
  const conditions: LogsqlFilter[] = [];
  for (const column of columns) {
    const values = new Set<string>();
    for (const { fields } of streams.values()) values.add(fields.get(column) ?? '');
    if (conditions.length + values.size > maxConditions) return undefined;
    for (const value of values)
      conditions.push(and(streamMatch(matcher(column, '=', value)), not(exact(column, value))));
  }
  return or(...conditions);
}

type NamedStream = readonly [text: string, stream: StreamIdentity];

/**
 * Backend streams that may contain the same entries: they have the same labels, so clients see a single stream, and the same structured
 * metadata in the fields that all streams with these labels have.
 */
export const streamsWithSameEntries = oncePerObject((streams: ReadonlyMap<string, StreamIdentity>) =>
  atPace(findSameEntries(streams), new Pacer()),
);

function* findSameEntries(streams: ReadonlyMap<string, StreamIdentity>): Steps<ReadonlySet<string>> {
  const same = new Set<string>();
  const all = yield* severalBy([...streams], ([, { labels }]) => labels.key);
  for (const withSameLabels of all) {
    const common = new Set(withSameLabels[0]?.[1].metadata.map(([field]) => field));
    for (const [, { fields }] of withSameLabels)
      for (const field of common) if (!fields.has(field)) common.delete(field);
    const alike = yield* severalBy(withSameLabels, ([, { fields }]) =>
      JSON.stringify([...common].map((field) => fields.get(field))),
    );
    for (const [text] of alike.flat()) same.add(text);
  }
  return same;
}

/** The groups of at least two streams with the same key. */
function* severalBy(
  streams: readonly NamedStream[],
  keyOf: (stream: NamedStream) => string,
): Steps<readonly (readonly NamedStream[])[]> {
  const byKey = new Map<string, NamedStream[]>();
  yield* eachStep(streams, (stream) => {
    ofKey(byKey, keyOf(stream), (): NamedStream[] => []).push(stream);
  });
  return [...byKey.values()].filter(({ length }) => length > 1);
}

/** True if both have the same streams and fields, regardless of row counts. */
export function isSame(a: Pick<StreamListing, 'streams' | 'fields'>, b: typeof a): boolean {
  return (
    a.streams.size === b.streams.size &&
    a.fields.length === b.fields.length &&
    a.fields.every((name, index) => name === b.fields[index]) &&
    [...a.streams.keys()].every((text) => b.streams.has(text))
  );
}

/** Bytes of a stream in a listing, and in what is remembered about the streams of the listing, without its text. */
const streamBytes = 300;

/** The approximate size of a listing. */
export function listingBytes({ streams, fields }: Pick<StreamListing, 'streams' | 'fields'>): number {
  let bytes = 200;
  for (const text of streams.keys()) bytes += text.length + streamBytes;
  for (const name of fields) bytes += 2 * name.length + 20;
  return bytes;
}

const saltBytes = 16;
const mask = (1n << 64n) - 1n;

/**
 * Makes checksums of the number of rows per stream. Different counts have the same checksum with a probability of 2^-64. The checksums of
 * segments add up to that of the whole range.
 */
export class StreamChecksums {
  /** Prevents clients from choosing streams whose hashes add up to the same checksum. */
  #salt: Buffer = randomBytes(saltBytes);
  #words = new WeakMap<StreamIdentity, bigint>();

  get salt(): string {
    return this.#salt.toString('hex');
  }

  /** Switches to the salt of another process; earlier checksums match no rows any more. Throws for an invalid salt. */
  takeOver(salt: unknown): void {
    if (typeof salt !== 'string' || !/^[0-9a-f]{32}$/.test(salt)) throw new Error('no salt');
    if (salt === this.salt) return;
    this.#salt = Buffer.from(salt, 'hex');
    this.#words = new WeakMap();
  }

  ofListing(reader: RowReader, listed: readonly BackendValue[]): Promise<bigint> {
    const rows = listed.map(({ value, hits }) => [value, hits] as const);
    return atPace(this.of(reader, rows), new Pacer());
  }

  *of(reader: RowReader, streams: Iterable<readonly [text: string, rows: number]>): Steps<bigint> {
    let sum = 0n;
    let count = 0;
    for (const [text, rows] of streams) {
      sum += this.#wordOf(reader.stream(text), text) * BigInt(rows);
      count += 1;
      if (count % stepStreams === 0) yield;
    }
    return sum & mask;
  }

  #wordOf(stream: StreamIdentity, text: string): bigint {
    return ofKey(this.#words, stream, () =>
      createHash('sha256').update(this.#salt).update(text).digest().readBigUInt64LE(),
    );
  }
}

/** The sum of the checksums of several segments. */
export function addChecksums(checksums: readonly bigint[]): bigint {
  return checksums.reduce((sum, checksum) => sum + checksum, 0n) & mask;
}

/** Stored fields by which rows are grouped. */
interface FieldsToReplace {
  /** The fields that rows are grouped by, except those that may decide their level. */
  readonly fields: readonly string[];
  /** All labels that matter. */
  readonly names: ReadonlySet<string> | 'all';
  readonly stages: readonly Stage[];
  readonly compared: ComparedLabels;
}

/**
 * Replaces the values of fields that are nothing but a label that stages only compare. Fields that the backend may have filled in keep
 * their values, which show it together with those of other fields.
 */
export function fieldsByOutcome(
  { fields, names, stages, compared }: FieldsToReplace,
  listing: Pick<StreamListing, 'streams' | 'fields'>,
  naming: Naming,
): readonly LogsqlPipe[] {
  if (names === 'all' || compared.size === 0) return [];
  const isVisible = (name: string): boolean => names.has(name) || names.has(`${name}_extracted`);
  const identities = [...listing.streams.values()];
  const hasOtlp = mayHaveOtlp(listing);
  // A parser with expressions gives keys of rebuilt lines other names.
  const keys = new Set(stages.flatMap((stage) => descriptorOf(stage).objectKeys?.(stage) ?? []));
  return fields.flatMap((field) => {
    const labels = [false, true].flatMap((fromOtlp) => naming.metadataNames(field, fromOtlp));
    const [label = '', another] = [...new Set([...labels, labelName(field)])].filter(isVisible);
    const isShared = another !== undefined || names.has(`${label}_extracted`) || keys.has(field);
    const isKept = isShared || (hasOtlp && mayBeFilledIn(field));
    const comparisons = isKept ? undefined : compared.get(label);
    if (comparisons === undefined || identities.some((stream) => stream.fields.has(field))) return [];
    return byOutcome(field, classesOf(comparisons));
  });
}
