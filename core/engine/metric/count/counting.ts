import type { PipelineEntry } from '../../../logql/pipeline/types.js';
import { parseRowTime, pipelineEntry, type RowReader } from '../../../victoria/names/row-reader.js';
import type { SampleExtractor } from '../../../logql/pipeline/extractor.js';
import type { MemoryAccount } from '../../../base/memory/account.js';
import { Pacer } from '../../../base/pace/steps.js';
import type { TimeRange } from '../../../base/time/range.js';
import type { LogRange } from '../../../logql/ast.js';
import {
  pipelineError,
  RangeWindows,
  type Columns,
  type LeafRequest,
  type RangeEngine,
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
import { columnOf, type BackendRow, type Upstream } from '../../../victoria/upstream/types.js';
import type { LeafPush } from '../../plan/types.js';
import { decline, type Declined, type DeclineReason, isDeclined } from '../cost.js';
import { distinctRows, type RowPart } from './duplicates.js';
import { streamOf, type RowGrouping } from './grouping.js';
import type { Get, LineDigest, RepresentativeLine } from './line-digests.js';

/** Maximum number of buckets to request; with more, reading rows is as fast. */
const maxBuckets = 11_000;

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
  const { fromNs, toNs } = windows.interval;
  const lengthNs = toNs - fromNs + 1n;
  const isSingle = columns.count === 1;
  if (!isSingle && (fromNs - 1n) % nsPerMs !== 0n) return decline('uneven-buckets');
  const stepNs = isSingle
    ? lengthNs
    : gcd(range.intervalNanoseconds / nsPerMs, BigInt(columns.stepMs)) * nsPerMs;
  const count = Number(lengthNs / stepNs);
  if (count > maxBuckets) return decline('too-many-buckets');
  return { range: { startNs: fromNs, endNs: toNs + 1n }, stepNs, shiftNs: fromNs % stepNs, count };
}

/** The last nanosecond of the bucket that the backend reports with this start in seconds. */
export function endOfBucket(seconds: number, { range, stepNs, count }: Buckets): bigint {
  return count === 1 ? range.endNs - 1n : BigInt(Math.round(seconds * 1000)) * nsPerMs + stepNs;
}

function gcd(a: bigint, b: bigint): bigint {
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
  readonly upstream: Upstream;
  /** The parts of the rows; each row is in at most one of them. */
  readonly rows: readonly CountedPart[];
  readonly push: LeafPush;
  readonly buckets: Buckets;
  /** Maximum number of groups to hold, not counting buckets. */
  readonly maxGroups: number;
  readonly memory: MemoryAccount;
  readonly signal: AbortSignal;
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

export async function countGroups(request: CountRequest): Promise<readonly RowGroup[] | Declined> {
  const counted = await Promise.all(request.rows.map((rows) => groupsOf(rows, request)));
  return counted.find(isDeclined) ?? counted.flatMap((groups) => (isDeclined(groups) ? [] : groups));
}

async function groupsOf(rows: CountedPart, request: CountRequest): Promise<readonly RowGroup[] | Declined> {
  const { upstream, push, buckets, memory, signal } = request;
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
    memory.charge(groupBytes + points.length * groupPointBytes, 'statistics of the backend');
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
  const groups = new Map<string, RowGroup & { readonly values: GroupValue[] }>();
  const stopped = await readBuckets(request, undefined, (row, value, grouping) => {
    const get: Get = (name) => columnOf(row, name);
    const stream = streamOf(grouping, get);
    if (stream === undefined) return 'unlisted-stream';
    const key = keyOf(get, grouping.columns);
    const group = groups.get(key);
    request.memory.charge(
      group === undefined ? groupBytes + 2 * key.length : groupPointBytes,
      'statistics of the backend',
    );
    if (group === undefined) groups.set(key, { stream, get, values: [value] });
    else group.values.push(value);
    return groups.size <= request.maxGroups ? 'taken' : 'too-many-groups';
  });
  return stopped ?? [...groups.values()].filter((group) => sumOf(group) !== 0);
}

/**
 * Reads the groups of these columns bucket by bucket, in no particular order, with each value at the last nanosecond of its bucket. Returns
 * the reason if it stopped early.
 */
async function readBuckets(
  { upstream, rows: parts, push, buckets }: CountRequest,
  digest: LineDigest | undefined,
  take: (row: BackendRow, value: GroupValue, grouping: RowGrouping) => 'taken' | DeclineReason,
): Promise<Declined | undefined> {
  const { range, stepNs, shiftNs, count } = buckets;
  // Groups are not ordered by time, and a bucket has many of them.
  const ends = new Map<string, bigint>();
  const endOf = (time: string): bigint => {
    const known = ends.get(time);
    if (known !== undefined) return known;
    const endNs = parseRowTime(time) + stepNs - 1n;
    ends.set(time, endNs);
    return endNs;
  };
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
        const endNs = count === 1 ? range.endNs - 1n : endOf(row._time ?? '');
        const outcome = take(row, [endNs, Number(columnOf(row, name))], grouping);
        if (outcome !== 'taken') return decline(outcome);
      }
    }
  }
  return undefined;
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
  return JSON.stringify(columns.map((name) => [name, get(name) ?? '']));
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

export interface DigestRequest extends CountRequest {
  readonly digest: LineDigest;
}

/** Counts lines by class, and so by meaning. */
export async function countByDigest(request: DigestRequest): Promise<DigestCount | Declined> {
  const { digest } = request;
  const groups = new Map<string, RowGroup & { readonly values: GroupValue[] }>();
  const undecided = new Map<string, LogsqlFilter>();
  const stopped = await readBuckets(request, digest, (row, value, grouping) => {
    const get: Get = (name) => columnOf(row, name);
    const stream = streamOf(grouping, get);
    if (stream === undefined) return 'unlisted-stream';
    const representative = digest.representativeOf(get);
    if (representative === undefined) {
      undecided.set(keyOf(get, digest.columns), classFilter(get, digest));
      return 'taken';
    }
    const key = `${keyOf(get, grouping.columns)} ${representative.level ?? ''} ${representative.line}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { stream, get, representative, values: [value] });
    else group.values.push(value);
    return groups.size <= request.maxGroups ? 'taken' : 'too-many-groups';
  });
  if (stopped !== undefined) return stopped;
  const rows = undecided.size === 0 ? undefined : rowsOf(digest, [...undecided.values()]);
  if (rows !== undefined && isDeclined(rows)) return rows;
  return { groups: [...groups.values()], undecided: rows };
}

function classFilter(get: Get, { columns }: LineDigest): LogsqlFilter {
  return and(...columns.map((name) => exact(name, get(name) ?? '')));
}

/** Selects the rows of these classes. */
function rowsOf({ pipes }: LineDigest, classes: readonly LogsqlFilter[]): readonly LogsqlPipe[] | Declined {
  const wanted = or(...classes);
  const isShort =
    classes.length <= maxUndecided && Buffer.byteLength(printFilter(wanted)) <= maxUndecidedBytes;
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
export class GroupEvaluator {
  readonly #reader: RowReader;
  readonly #fields: readonly string[];

  constructor(reader: RowReader, fields: readonly string[]) {
    this.#reader = reader;
    this.#fields = fields;
  }

  /**
   * Adds the values of a group.
   * @throws ApiError `pipelineError` as for a row
   */
  add(
    { stream, get, representative = anyLine, values }: RowGroup,
    extract: SampleExtractor,
    engine: RangeEngine,
  ): void {
    const fields = this.#fields.map((name) => [name, get(name) ?? ''] as const);
    const sample = extract(entryOfGroup(this.#reader, stream, fields, representative));
    if (sample === undefined) return;
    for (const [timestampNs, value] of values) {
      if (!engine.isInWindow(timestampNs)) continue;
      if (sample.error !== undefined) throw pipelineError(sample.error, sample.labels);
      engine.add(sample.labels, timestampNs, value);
    }
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
