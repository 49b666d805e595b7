import type { MemoryAccount } from '../../../base/memory/account.js';
import { Pacer } from '../../../base/pace/pacer.js';
import type { TimeRange } from '../../../base/time/range.js';
import type { LogRange } from '../../../logql/ast.js';
import { Windows, type Columns } from '../../../logql/metric/index.js';
import type { LogsqlFilter, LogsqlPipe, StatsFunction } from '../../../victoria/logsql/ast.js';
import {
  and,
  exact,
  limit,
  or,
  query,
  stats,
  statsFunction,
  timeBucket,
  where,
} from '../../../victoria/logsql/build.js';
import { printFilter } from '../../../victoria/logsql/print.js';
import { parseRowTime } from '../../../victoria/names/row-time.js';
import type { BackendRow, Upstream } from '../../../victoria/upstream/types.js';
import type { LeafPush } from '../../plan/types.js';
import { decline, isDeclined, type Declined, type DeclineReason } from '../declined.js';
import type { Group, Grouping, GroupValue } from './grouping.js';
import type { Cutting, Get } from './shapes.js';

/** Buckets that the backend may be asked for; beyond that reading rows is no worse. */
const maxBuckets = 11_000;

/** Buckets of time such that the window of every column is a whole number of them. */
export interface Buckets {
  /** From the first moment of the first bucket to behind the last moment of the last one. */
  readonly range: TimeRange;
  readonly stepNs: bigint;
  /** A bucket begins this long behind a multiple of the step: windows hold their end and not their begin. */
  readonly shiftNs: bigint;
  readonly count: number;
}

const nsPerMs = 1_000_000n;

/** The buckets of a range aggregation, of gcd(range, step) each. */
export function bucketsOf(columns: Columns, range: LogRange): Buckets | Declined {
  const windows = new Windows(columns, range);
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

/** The last moment of the bucket that begins at these seconds, as the backend shows them. */
export function endOfBucket(seconds: number, { range, stepNs, count }: Buckets): bigint {
  return count === 1 ? range.endNs - 1n : BigInt(Math.round(seconds * 1000)) * nsPerMs + stepNs;
}

function gcd(a: bigint, b: bigint): bigint {
  return b === 0n ? a : gcd(b, a % b);
}

/** Values of all groups together that are held until it is certain that there are no more. */
const maxPoints = 200_000;

export interface CountRequest {
  readonly upstream: Upstream;
  readonly filter: LogsqlFilter;
  readonly push: LeafPush;
  readonly grouping: Grouping;
  readonly buckets: Buckets;
  /** Groups, time aside, that may be held. */
  readonly maxGroups: number;
  readonly memory: MemoryAccount;
  readonly signal: AbortSignal;
}

/** What a group takes with its columns, and each of its values. */
const groupBytes = 500;
const groupPointBytes = 120;

/** The groups of rows by buckets of time. */
export async function countGroups(request: CountRequest): Promise<readonly Group[] | Declined> {
  const { upstream, filter, push, buckets, memory, signal } = request;
  const { columns, streamOf } = request.grouping;
  const { range, stepNs, shiftNs } = buckets;
  const asked = { query: query(filter, [stats(columns, measured(push))]), range };
  const series =
    buckets.count === 1
      ? (await upstream.stats(asked)).map(({ labels, value }) => ({ labels, points: [[0, value] as const] }))
      : await upstream.statsRange({ ...asked, stepNs, shiftNs });
  const groups: Group[] = [];
  const pacer = new Pacer(signal);
  for (const { labels, points } of series) {
    const pause = pacer.due();
    if (pause !== undefined) await pause;
    memory.charge(groupBytes + points.length * groupPointBytes, 'statistics of the backend');
    const values = points.map(([seconds, value]) => [endOfBucket(seconds, buckets), Number(value)] as const);
    // Without a key the backend answers 0 for no rows.
    if (values.every(([, value]) => value === 0)) continue;
    const get = (name: string): string | undefined => labels.get(name);
    const stream = streamOf(get);
    if (stream === undefined) return decline('unlisted-stream');
    groups.push({ stream, get, values });
  }
  return groups;
}

/** The same where there may be as many groups as rows. */
export async function countManyGroups(request: CountRequest): Promise<readonly Group[] | Declined> {
  const { columns, streamOf } = request.grouping;
  const groups = new Map<string, Group & { readonly values: GroupValue[] }>();
  const stopped = await readBuckets(request, [], columns, (row, value) => {
    const get: Get = (name) => row[name];
    const stream = streamOf(get);
    if (stream === undefined) return 'unlisted-stream';
    const key = keyOf(get, columns);
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
 * Reads groups by these columns and bucket by bucket, in no order, each with its value at the last moment of the bucket. Gives why
 * it stopped before the end, where it did.
 */
async function readBuckets(
  { upstream, filter, push, buckets }: CountRequest,
  pipes: readonly LogsqlPipe[],
  columns: readonly string[],
  take: (row: BackendRow, value: GroupValue) => 'taken' | DeclineReason,
): Promise<Declined | undefined> {
  const { range, stepNs, shiftNs, count } = buckets;
  const by = count === 1 ? columns : [...columns, timeBucket(stepNs, -shiftNs)];
  const asked = query(filter, [...pipes, stats(by, measured(push)), limit(maxPoints + 1)]);
  let points = 0;
  for await (const batch of upstream.rows({ query: asked, range })) {
    points += batch.length;
    if (points > maxPoints) return decline('too-many-values');
    for (const row of batch) {
      const endNs = count === 1 ? range.endNs - 1n : parseRowTime(row['_time'] ?? '') + stepNs - 1n;
      const outcome = take(row, [endNs, Number(row['value'])]);
      if (outcome !== 'taken') return decline(outcome);
    }
  }
  return undefined;
}

/** What the backend adds up. */
function measured({ measure }: LeafPush): StatsFunction {
  return measure === 'bytes'
    ? statsFunction('sum_len', ['_msg'], 'value')
    : statsFunction('count', [], 'value');
}

/** A text for the values of columns. */
function keyOf(get: Get, columns: readonly string[]): string {
  return JSON.stringify(columns.map((name) => get(name) ?? ''));
}

/** All values of a group together. */
export function sumOf({ values }: Group): number {
  return values.reduce((all, [, value]) => all + value, 0);
}

/** Shapes that do not tell what a line means, and whose lines are read. */
const maxUntold = 50;
// The backend's limit is 16384 bytes a query.
const maxUntoldBytes = 6000;

/** Lines counted by what they mean. */
export interface ShapeCount {
  readonly groups: readonly Group[];
  /** Picks the rows whose shape does not tell what they mean; undefined where there are none. */
  readonly untold: readonly LogsqlPipe[] | undefined;
}

export interface ShapeRequest extends CountRequest {
  readonly cutting: Cutting;
  /** Picks the groups whose lines have to be looked at. */
  readonly accepts: (group: Pick<Group, 'stream' | 'get'>) => boolean;
}

/** Counts lines by shape and so by what they mean. */
export async function countByShape(request: ShapeRequest): Promise<ShapeCount | Declined> {
  const { cutting, accepts } = request;
  const { columns, streamOf } = request.grouping;
  const groups = new Map<string, Group & { readonly values: GroupValue[] }>();
  const untold = new Map<string, LogsqlFilter>();
  const keys = [...columns, ...cutting.columns];
  const stopped = await readBuckets(request, cutting.pipes, keys, (row, value) => {
    const get: Get = (name) => row[name];
    const stream = streamOf(get);
    if (stream === undefined) return 'unlisted-stream';
    if (!accepts({ stream, get })) return 'taken';
    const told = cutting.toldBy(get);
    if (told === undefined) {
      untold.set(keyOf(get, cutting.columns), shapeFilter(get, cutting));
      return 'taken';
    }
    const key = `${keyOf(get, columns)} ${told.level ?? ''} ${told.line}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { stream, get, told, values: [value] });
    else group.values.push(value);
    return groups.size <= request.maxGroups ? 'taken' : 'too-many-groups';
  });
  if (stopped !== undefined) return stopped;
  const rows = untold.size === 0 ? undefined : rowsOf(cutting, [...untold.values()]);
  if (rows !== undefined && isDeclined(rows)) return rows;
  return { groups: [...groups.values()].filter((group) => sumOf(group) !== 0), untold: rows };
}

function shapeFilter(get: Get, { columns }: Cutting): LogsqlFilter {
  return and(...columns.map((name) => exact(name, get(name) ?? '')));
}

/** Picks the rows of these shapes. */
function rowsOf({ pipes }: Cutting, shapes: readonly LogsqlFilter[]): readonly LogsqlPipe[] | Declined {
  const wanted = or(...shapes);
  const isShort = shapes.length <= maxUntold && Buffer.byteLength(printFilter(wanted)) <= maxUntoldBytes;
  return isShort ? [...pipes, where(wanted)] : decline('too-many-shapes');
}
