import { floorTo } from '../../core/base/time/index.js';
import type { TimeRange } from '../../core/base/time/range.js';
import type { LogsqlFilter } from '../../core/victoria/logsql/ast.js';
import { everything, isOfStreams, query } from '../../core/victoria/logsql/build.js';
import { compileFilter } from '../../core/victoria/logsql/eval/filter.js';
import { MapRow } from '../../core/victoria/logsql/row.js';
import { parseStreamText } from '../../core/victoria/logsql/stream-text.js';
import type { ListingQuestion } from '../../core/victoria/upstream/types.js';
import { inParallel } from '../../core/base/pace/in-parallel.js';
import { eachAtPace, Pacer } from '../../core/base/pace/steps.js';
import type { Exchange } from '../../core/plugin/index.js';

/** The listing of a time range with its TTL in milliseconds. */
export interface Listed {
  readonly values: readonly string[];
  readonly leftMs: number;
}

/** A listing that can be requested in parts. */
export interface Listing {
  readonly exchange: Exchange<'tenant'>;
  /** The listing of a bucket, cached or new. */
  bucket(range: TimeRange, signal: AbortSignal): Promise<Listed>;
  /** The listing of a range that may still change, or that is not a bucket. */
  edge(range: TimeRange, signal: AbortSignal): Promise<readonly string[]>;
  /** The listing of many buckets. */
  joined(filled: TimeRange, parallel: number, signal: AbortSignal): Promise<Listed>;
}

/** A partial bucket at the start or end of a range. */
interface Edge {
  readonly part: TimeRange;
  /** The bucket that contains the part; undefined if the part itself must be requested. */
  readonly bucket: TimeRange | undefined;
}

interface Part {
  readonly values: readonly string[];
  /** The part of the range that this bucket contains; undefined for values that lie in the range. */
  readonly around: TimeRange | undefined;
}

/** The listing of a range, merged from its parts, in an order that does not depend on which part arrives first. */
export async function listOver(
  listing: Listing,
  { startNs, endNs }: TimeRange,
  { filled, youngEndNs, atStart, atEnd }: Divided,
  parallel: number,
): Promise<readonly string[]> {
  const { signal, slots } = listing.exchange;
  const edges: readonly Edge[] = [
    {
      part: { startNs, endNs: filled.startNs },
      bucket: slots.tenant.oldestNs === undefined ? atStart : undefined,
    },
    { part: { startNs: youngEndNs, endNs }, bucket: atEnd },
  ].filter(({ part }) => part.startNs < part.endNs);
  const { values: inBuckets } = await listing.joined(filled, parallel, signal);
  const young = { startNs: filled.endNs, endNs: youngEndNs };
  const parts = edges.map(({ part, bucket }) => async (ended: AbortSignal): Promise<Part> => {
    if (bucket === undefined) return { values: await listing.edge(part, ended), around: undefined };
    return { values: (await listing.bucket(bucket, ended)).values, around: part };
  });
  if (young.startNs < young.endNs)
    parts.push(async (ended) => ({ values: (await listing.bucket(young, ended)).values, around: undefined }));
  const listed = await inParallel(parts, parallel, (part, ended) => part(ended), signal);
  const inRange = listed.flatMap(({ values, around }) => (around === undefined ? [values] : []));
  let whole = await valuesOfAll([inBuckets, ...inRange], signal);
  for (const { values, around } of listed)
    if (around !== undefined && !(await holds(whole, values, signal)))
      whole = await valuesOfAll([whole, await listing.edge(around, signal)], signal);
  return whole;
}

/** The values that a listing derives from streams. */
export async function readListing(
  streams: readonly string[],
  reading: Reading,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const values = new Set<string>();
  await eachAtPace(streams, new Pacer(signal), (stream) => {
    for (const value of reading(stream)) values.add(value);
  });
  return [...values];
}

export async function valuesOfAll(
  lists: readonly (readonly string[])[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const values = new Set<string>();
  const pacer = new Pacer(signal);
  for (const list of lists) await eachAtPace(list, pacer, (value) => void values.add(value));
  return [...values];
}

/** Tells whether one list contains another. */
async function holds(
  large: readonly string[],
  small: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  const missing = new Set(small);
  await eachAtPace(large, new Pacer(signal), (value) => void missing.delete(value));
  return missing.size === 0;
}

/** The list of all streams, from which names, values and selections are derived. */
export const everyStream: ListingQuestion = { listing: 'streams', query: query(everything) };

/** Derives a stream's values in a listing from its text. */
export type Reading = (stream: string) => readonly string[];

/** Each matcher is compiled and tried with each stream. With more matchers than this, the backend's index is faster. */
const maxMatchers = 100;

/** The way to derive a listing from streams; undefined if it depends on rows, or if its selection is long. */
export function readingOf({ listing, field, query: asked }: ListingQuestion): Reading | undefined {
  const { filter, pipes } = asked;
  if (pipes.length > 0 || !isOfStreams(filter)) return undefined;
  if (matchersIn(filter) > maxMatchers) return undefined;
  const read = readerOf(listing, field);
  if (read === undefined) return undefined;
  const matches = compileFilter(filter);
  return (stream) => (matches(new MapRow(new Map([['_stream', stream]]))) ? read(stream) : []);
}

function matchersIn(filter: LogsqlFilter): number {
  switch (filter.kind) {
    case 'stream':
      return filter.groups.flat().length;
    case 'and':
    case 'or':
      return filter.parts.reduce((sum, part) => sum + matchersIn(part), 0);
    case 'not':
      return matchersIn(filter.filter);
    default:
      return 1;
  }
}

function readerOf(listing: ListingQuestion['listing'], field: string | undefined): Reading | undefined {
  switch (listing) {
    case 'streams':
      return (stream) => [stream];
    case 'stream_field_names':
      return (stream) => parseStreamText(stream).map(([name]) => name);
    case 'stream_field_values':
      return (stream) => parseStreamText(stream).flatMap(([name, value]) => (name === field ? [value] : []));
    case 'field_names':
    case 'field_values':
      return undefined;
  }
}

const minuteNs = 60_000_000_000n;
/** Lengths of buckets; each is a multiple of the one before. */
const shortestBucketNs = 5n * minuteNs;
const lengths = [shortestBucketNs, ...[15n, 60n, 360n, 1_440n].map((minutes) => minutes * minuteNs)];
/** Shorter ranges are not split (docs/protocol/operation.md#cache-times). */
const shortestNs = 2n * shortestBucketNs;
/** Longer ranges are not split either, because they would take too many buckets. */
const longestNs = 62n * 1_440n * minuteNs;
/** Lines younger than this may not have been ingested yet. */
const newestNs = minuteNs;

export interface Divided {
  /** The part that consists of whole buckets, whose bounds are the same for other ranges. */
  readonly filled: TimeRange;
  /** End of the part whose lines are old enough to be cached for a while, at a whole minute or at the end of the range. */
  readonly youngEndNs: bigint;
  /** The bucket that contains the start of the range, and the one that contains its end, if that is old enough to be cached. */
  readonly atStart: TimeRange;
  readonly atEnd: TimeRange | undefined;
}

/** Splits a range into buckets; undefined if it is too short, too long or too young. */
export function split({ startNs, endNs }: TimeRange, nowNs: bigint): Divided | undefined {
  if (endNs - startNs < shortestNs || endNs - startNs > longestNs) return undefined;
  const oldNs = nowNs - newestNs;
  const sealedNs = oldNs < endNs ? oldNs : endNs;
  // The largest buckets of which one fits in at any rate: the backend takes about as long for a short bucket as for a long one.
  const length = lengths.findLast((each) => 2n * each <= sealedNs - startNs) ?? shortestBucketNs;
  const lastNs = floorTo(endNs, length);
  // Only old buckets can contain the end. The others are filled up with smaller ones.
  const isOld = lastNs + length <= oldNs;
  const filled = {
    startNs: -floorTo(-startNs, length),
    endNs: isOld ? lastNs : floorTo(sealedNs, shortestBucketNs),
  };
  if (filled.startNs >= filled.endNs) return undefined;
  const youngEndNs = isOld ? lastNs : floorTo(sealedNs, minuteNs);
  const atStart = { startNs: filled.startNs - length, endNs: filled.startNs };
  const atEnd = { startNs: youngEndNs, endNs: youngEndNs + (isOld ? length : minuteNs) };
  return { filled, youngEndNs, atStart, atEnd: atEnd.endNs > oldNs ? undefined : atEnd };
}

/** The largest possible buckets that fill a range, in order. */
export function bucketsOf({ startNs, endNs }: TimeRange): readonly TimeRange[] {
  const buckets: TimeRange[] = [];
  for (let from = startNs; from < endNs;) {
    const fits = (length: bigint): boolean => from % length === 0n && from + length <= endNs;
    const to = from + (lengths.findLast(fits) ?? shortestBucketNs);
    buckets.push({ startNs: from, endNs: to });
    from = to;
  }
  return buckets;
}
