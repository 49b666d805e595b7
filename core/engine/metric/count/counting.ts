import { ofKey } from '../../../base/memory/byte-lru.js';
import type { PipelineEntry } from '../../../logql/pipeline/types.js';
import { parseRowTime, pipelineEntry, type RowReader } from '../../../victoria/names/row-reader.js';
import type { SampleExtractor } from '../../../logql/pipeline/extractor.js';
import { Pacer } from '../../../base/pace/steps.js';
import type { TimeRange } from '../../../base/time/range.js';
import type { LogRange } from '../../../logql/ast.js';
import {
  leafEngine,
  leafTable,
  pipelineError,
  RangeWindows,
  type Columns,
  type LeafEngine,
  type LeafRequest,
  type RangeEngine,
  type SeriesTable,
} from '../../../logql/metric/index.js';
import type { LogsqlFilter, LogsqlPipe, StatsFunction } from '../../../victoria/logsql/ast.js';
import {
  and,
  exact,
  freeName,
  limit,
  or,
  query,
  stats,
  statsFunction,
  timeBucket,
  where,
} from '../../../victoria/logsql/build.js';
import { printFilter } from '../../../victoria/logsql/print.js';
import { columnOf } from '../../../victoria/upstream/types.js';
import { beginEarly } from '../../listings/upstreams.js';
import type { LeafPlan, LeafPush } from '../../plan/types.js';
import type { LeafContext } from '../context.js';
import { decline, type Declined, isDeclined } from '../cost.js';
import { distinctRows, type RowPart } from './duplicates.js';
import { streamOf, type RowGrouping } from './grouping.js';
import type { Get, LineDigest, RepresentativeLine } from './line-digests.js';
import type { ListedRange, StreamListing } from './stream-listing.js';

/** Maximum number of buckets to request; with more, reading rows is as fast. */
const maxBuckets = 11_000;

/** Adds the samples of a leaf to its engine. */
type AddCounts = (into: LeafEngine) => Promise<void>;

/** A count in progress, which continues with the current streams. */
export type BegunCount = (listing: ListedRange) => Promise<AddCounts | Declined>;

/** The series of a leaf that the backend counts. */
export async function countedTable(
  { selection }: Pick<LeafPlan, 'selection'>,
  request: LeafRequest,
  context: LeafContext,
  {
    isReady,
    begin,
  }: {
    /** True when `begin` can return before the backend has answered. */
    readonly isReady: (listing: StreamListing) => boolean;
    readonly begin: (
      context: LeafContext,
      listing: StreamListing,
      buckets: Buckets,
    ) => Promise<BegunCount | Declined>;
  },
): Promise<SeriesTable | Declined> {
  const { leaf, columns } = request;
  const buckets = rangeBuckets(columns, leaf.range.range);
  if (isDeclined(buckets)) return buckets;
  const work = { selection, range: buckets.range, isReady };
  const { listing, begun } = await beginEarly(
    { ...work, begin: (of, streams) => begin(of, streams, buckets) },
    context,
  );
  if (isDeclined(begun)) return begun;
  const add = await begun(listing);
  if (isDeclined(add)) return add;
  const into = leafEngine(request, true);
  context.counts.scanned(listing.listed);
  await add(into);
  return leafTable(into, context.signal);
}

/** Time buckets that divide the window of every column exactly. */
export interface Buckets {
  /** From the start of the first bucket to the end of the last one. */
  readonly range: TimeRange;
  readonly stepNs: bigint;
  /** Offset of bucket starts from a multiple of the step: windows include their end instead of their start. */
  readonly shiftNs: bigint;
  readonly count: number;
}

const nsPerMs = 1_000_000n;

/** The buckets of a range aggregation, each gcd(range, step) long. */
export function rangeBuckets(columns: Columns, range: LogRange): Buckets | Declined {
  const windows = new RangeWindows(columns, range);
  if (windows.buckets === 0) return decline('no-buckets');
  const { startNs, endNs } = windows.range;
  const lengthNs = endNs - startNs;
  const isSingle = columns.count === 1;
  if (!isSingle && (startNs - 1n) % nsPerMs !== 0n) return decline('uneven-buckets');
  const stepNs = isSingle
    ? lengthNs
    : gcd(range.intervalNanoseconds / nsPerMs, BigInt(columns.stepMs)) * nsPerMs;
  const count = Number(lengthNs / stepNs);
  if (count > maxBuckets) return decline('too-many-buckets');
  return { range: { startNs, endNs }, stepNs, shiftNs: startNs % stepNs, count };
}

/** The last nanosecond of the bucket that the backend reports with this start in seconds. */
export function endOfBucket(seconds: number, { range, stepNs, count }: Buckets): bigint {
  return count === 1 ? range.endNs - 1n : BigInt(Math.round(seconds * 1000)) * nsPerMs + stepNs;
}

/** The greatest common divisor. */
export function gcd(a: bigint, b: bigint): bigint {
  return b === 0n ? a : gcd(b, a % b);
}

/** Maximum number of values to hold, over all groups, while more may follow. */
const maxPoints = 200_000;
/** Maximum number of values to request in a call without a limit, if each group has rows in each bucket. */
const maxUnlimitedPoints = 1_000_000;

export interface CountedPart extends RowPart {
  readonly grouping: RowGrouping;
}

export interface CountRequest {
  readonly context: Pick<LeafContext, 'upstream' | 'memory' | 'signal'>;
  /** The parts of the rows; each row is in at most one of them. */
  readonly rows: readonly CountedPart[];
  readonly push: LeafPush;
  readonly buckets: Buckets;
  /** Maximum number of groups to hold, not counting buckets. */
  readonly maxGroups: number;
}

/** Groups allowed per series of the answer: dropped fields merge several groups into one series. */
const spareGroups = 4;
/** Maximum number of groups by labels that only stages use. They may all end up in one series, but reading rows is cheaper than more groups. */
const maxRowLabelGroups = 5_000;

/** @param hasRowLabels true if a label that only stages use may have as many values as rows */
export function maxGroupsOf(
  { names }: LeafPush,
  { leaf, limits }: LeafRequest,
  hasRowLabels: boolean,
): number {
  // If all labels are visible, every group is a series, and reading rows would detect too many series sooner.
  const isBounded = names === 'all' && leaf.isRoot && limits.maxSeries > 0;
  return Math.min(
    isBounded ? limits.maxSeries * spareGroups : Infinity,
    hasRowLabels ? maxRowLabelGroups : Infinity,
  );
}

/** Bytes of a group with its columns, and of each of its values. */
const groupBytes = 500;
const groupPointBytes = 120;
const memoryUse = 'statistics of the backend';

export async function countGroups(request: CountRequest): Promise<readonly RowGroup[] | Declined> {
  const counted = await Promise.all(request.rows.map((rows) => groupsOf(rows, request)));
  return counted.find(isDeclined) ?? counted.flatMap((groups) => (isDeclined(groups) ? [] : groups));
}

async function groupsOf(rows: CountedPart, request: CountRequest): Promise<readonly RowGroup[] | Declined> {
  const { push, buckets } = request;
  const { upstream, memory, signal } = request.context;
  const { columns } = rows.grouping;
  const { range, stepNs, shiftNs } = buckets;
  const { pipes, statistic } = measured(push, rows, freeName('value', columns));
  // The backend's range statistics accept no pipes that may change times, and no limit.
  if (pipes.length + outcomesOf(rows).length > 0 || rows.grouping.size * buckets.count > maxUnlimitedPoints)
    return countManyGroups({ ...request, rows: [rows] });
  const asked = { query: query(rows.filter, [stats(columns, statistic)]), range };
  const series =
    buckets.count === 1
      ? (await upstream.stats(asked)).map(({ labels, value }) => ({ labels, points: [[0, value] as const] }))
      : await upstream.statsRange({ ...asked, stepNs, shiftNs });
  const groups: RowGroup[] = [];
  const pacer = new Pacer(signal);
  for (const { labels, points } of series) {
    const pause = pacer.due();
    if (pause !== undefined) await pause;
    memory.charge(groupBytes + points.length * groupPointBytes, memoryUse);
    const values = points.map(([seconds, value]) => [endOfBucket(seconds, buckets), Number(value)] as const);
    // Without group columns, the backend returns 0 if there are no rows.
    if (values.every(([, value]) => value === 0)) continue;
    const get = (name: string): string | undefined => labels.get(name);
    const stream = streamOf(rows.grouping, get);
    if (stream === undefined) return decline('unlisted-stream');
    groups.push({ stream, get, values });
  }
  return groups;
}

/** As `countGroups`, for queries with up to as many groups as rows. */
export async function countManyGroups(request: CountRequest): Promise<readonly RowGroup[] | Declined> {
  const read = await readGroups(request, undefined);
  return isDeclined(read) ? read : read.groups.filter((group) => sumOf(group) !== 0);
}

/**
 * Reads the groups bucket by bucket, in no particular order, with each value at the last nanosecond of its bucket.
 * @param digest splits them by the meaning of lines; classes that do not decide it are in no group
 */
async function readGroups(
  { context: { upstream, memory }, rows: parts, push, buckets, maxGroups }: CountRequest,
  digest: LineDigest | undefined,
): Promise<{ readonly groups: readonly RowGroup[]; readonly undecided: readonly LogsqlFilter[] } | Declined> {
  const { range, stepNs, shiftNs, count } = buckets;
  // Groups are not ordered by time, and a bucket has many of them.
  const ends = new Map<string, bigint>();
  const endOf = (time: string): bigint => ofKey(ends, time, () => parseRowTime(time) + stepNs - 1n);
  const groups = new Map<string, RowGroup & { readonly values: GroupValue[] }>();
  const undecided = new Map<string, LogsqlFilter>();
  let points = 0;
  for (const rows of parts) {
    const { grouping } = rows;
    const columns = [...grouping.columns, ...(digest?.columns ?? [])];
    const name = freeName('value', columns);
    const by = count === 1 ? columns : [...columns, timeBucket(stepNs, -shiftNs)];
    const { pipes, statistic } = measured(push, rows, name);
    const prepared = [...pipes, ...(digest?.pipes ?? []), ...outcomesOf(rows)];
    const counted = [...prepared, stats(by, statistic), limit(maxPoints + 1)];
    const asked = query(rows.filter, counted);
    for await (const batch of upstream.rows({ query: asked, range })) {
      points += batch.length;
      if (points > maxPoints) return decline('too-many-values');
      for (const row of batch) {
        const get: Get = (column) => columnOf(row, column);
        const stream = streamOf(grouping, get);
        if (stream === undefined) return decline('unlisted-stream');
        const representative = digest?.representativeOf(get);
        if (digest !== undefined && representative === undefined) {
          undecided.set(keyOf(get, digest.columns), classFilter(get, digest));
          if (undecided.size > maxUndecided) return decline('too-many-shapes');
          continue;
        }
        const line = representative && ` ${representative.level ?? ''} ${representative.line}`;
        const key = keyOf(get, grouping.columns) + (line ?? '');
        const group = groups.get(key);
        memory.charge(group === undefined ? groupBytes + 2 * key.length : groupPointBytes, memoryUse);
        const endNs = count === 1 ? range.endNs - 1n : endOf(row._time ?? '');
        const value = [endNs, Number(columnOf(row, name))] as const;
        if (group !== undefined) group.values.push(value);
        else groups.set(key, { stream, get, ...(representative && { representative }), values: [value] });
        if (groups.size > maxGroups) return decline('too-many-groups');
      }
    }
  }
  return { groups: [...groups.values()], undecided: [...undecided.values()] };
}

/** The statistic that the backend computes, and the pipes that prepare the rows for it. */
function measured(
  { measure }: LeafPush,
  part: CountedPart,
  name: string,
): { readonly pipes: readonly LogsqlPipe[]; readonly statistic: StatsFunction } {
  const { distinctBy, grouping } = part;
  if (measure === 'bytes')
    return {
      pipes: [...grouping.pipes, ...distinctRows(part, grouping.columns)],
      statistic: statsFunction('sum_len', ['_msg'], name),
    };
  return {
    pipes: grouping.pipes,
    statistic:
      distinctBy === undefined
        ? statsFunction('count', [], name)
        : statsFunction('count_uniq_hash', distinctBy, name),
  };
}

/** The outcomes of fields that the statistic does not look at. */
function outcomesOf({ distinctBy, grouping: { outcomes = [] } }: CountedPart): readonly LogsqlPipe[] {
  return distinctBy === undefined ? outcomes : [];
}

/** A key for the values of these columns. */
function keyOf(get: Get, columns: readonly string[]): string {
  return JSON.stringify(columns.map((name) => get(name) ?? ''));
}

export function sumOf({ values }: RowGroup): number {
  return values.reduce((all, [, value]) => all + value, 0);
}

/** Maximum number of classes that leave the meaning of their lines undecided; these lines are read. */
const maxUndecided = 50;
// The backend's limit is 16384 bytes per query.
const maxUndecidedBytes = 6000;

/** Lines counted by meaning. */
export interface DigestCount {
  readonly groups: readonly RowGroup[];
  /** Selects the rows whose class leaves their meaning undecided; undefined when there are none. */
  readonly undecided: readonly LogsqlPipe[] | undefined;
}

/** Counts lines by class, and so by meaning. */
export async function countByDigest(
  request: CountRequest,
  digest: LineDigest,
): Promise<DigestCount | Declined> {
  const read = await readGroups(request, digest);
  if (isDeclined(read)) return read;
  const undecided = read.undecided.length === 0 ? undefined : rowsOf(digest, read.undecided);
  return undecided !== undefined && isDeclined(undecided) ? undecided : { groups: read.groups, undecided };
}

function classFilter(get: Get, { columns }: LineDigest): LogsqlFilter {
  return and(...columns.map((name) => exact(name, get(name) ?? '')));
}

/** Selects the rows of these classes. */
function rowsOf({ pipes }: LineDigest, classes: readonly LogsqlFilter[]): readonly LogsqlPipe[] | Declined {
  const wanted = or(...classes);
  const isShort = Buffer.byteLength(printFilter(wanted)) <= maxUndecidedBytes;
  return isShort ? [...pipes, where(wanted)] : decline('too-many-shapes');
}

const anyLine: RepresentativeLine = { line: 'x' };
const anyTime = '1970-01-01T00:00:00Z';

export type GroupValue = readonly [timestampNs: bigint, value: number];

/** A group of rows with its values, each at the last nanosecond of its bucket. */
export interface RowGroup {
  /** The `_stream` text of a stream with the labels of the group. */
  readonly stream: string;
  readonly get: Get;
  /** A line to evaluate in place of the group's lines, empty for rows without a line; undefined if lines do not matter. */
  readonly representative?: RepresentativeLine;
  readonly values: readonly GroupValue[];
}

/** Evaluates groups as if they were rows. Everything that is equal for all rows of a group is computed once. */
export interface GroupsToAdd {
  readonly reader: RowReader;
  readonly extract: SampleExtractor;
  /** The fields of rows that are columns of groups. */
  readonly fields: readonly string[];
}

/**
 * Adds the values of a group.
 * @throws ApiError `pipelineError` as for a row
 */
export function addGroup(
  { stream, get, representative = anyLine, values }: RowGroup,
  { reader, extract, fields }: GroupsToAdd,
  engine: RangeEngine,
): void {
  const found = fields.map((name) => [name, get(name) ?? ''] as const);
  const sample = extract(entryOfGroup(reader, stream, found, representative));
  if (sample === undefined) return;
  for (const [timestampNs, value] of values) {
    if (!engine.isInWindow(timestampNs)) continue;
    if (sample.error !== undefined) throw pipelineError(sample.error, sample.labels);
    engine.add(sample.labels, timestampNs, value);
  }
}

/** An entry with the labels of the rows of a group: those of its stream, of these fields, and of a line in place of theirs. */
export function entryOfGroup(
  reader: RowReader,
  stream: string,
  fields: readonly (readonly [column: string, value: string])[],
  { line, level }: RepresentativeLine,
): PipelineEntry {
  const row = Object.fromEntries([...fields, ['_time', anyTime], ['_stream', stream], ['_msg', line]]);
  return pipelineEntry(reader.read(row, level));
}
