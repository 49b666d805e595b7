import type { LogsqlFilter, LogsqlPipe, StatsFunction } from '../../../victoria/logsql/ast.js';
import { limit, query, stats, statsFunction, timeBucket } from '../../../victoria/logsql/build.js';
import type { MemoryAccount } from '../../../base/memory/account.js';
import { Pacer } from '../../../base/pace/pacer.js';
import { parseRowTime } from '../../../victoria/names/row-time.js';
import type { LeafPush } from '../../plan/types.js';
import type { Upstream } from '../../../victoria/upstream/types.js';
import type { BackendRow } from '../../../victoria/upstream/types.js';
import { endOfBucket, type Buckets } from './buckets.js';
import type { Get, Grouping } from './grouping.js';
import type { Group, GroupValue } from './groups.js';

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

/** The groups of rows by buckets of time; undefined where a group belongs to no known stream. */
export async function countGroups(request: CountRequest): Promise<readonly Group[] | undefined> {
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
    if (stream === undefined) return undefined;
    groups.push({ stream, get, values });
  }
  return groups;
}

/** The same where groups may be as many as rows; undefined also where they are too many. */
export async function countManyGroups(request: CountRequest): Promise<readonly Group[] | undefined> {
  const { columns, streamOf } = request.grouping;
  const groups = new Map<string, Group & { readonly values: GroupValue[] }>();
  const isComplete = await readBuckets(request, [], columns, (row, value) => {
    const get: Get = (name) => row[name];
    const stream = streamOf(get);
    if (stream === undefined) return false;
    const key = keyOf(get, columns);
    const group = groups.get(key);
    request.memory.charge(
      group === undefined ? groupBytes + 2 * key.length : groupPointBytes,
      'statistics of the backend',
    );
    if (group === undefined) groups.set(key, { stream, get, values: [value] });
    else group.values.push(value);
    return groups.size <= request.maxGroups;
  });
  return isComplete ? [...groups.values()].filter((group) => sumOf(group) !== 0) : undefined;
}

/**
 * Reads groups by these columns and bucket by bucket, in no order, each with its value at the last moment of the bucket. False
 * where there are too many, or where one was not taken.
 */
export async function readBuckets(
  { upstream, filter, push, buckets }: CountRequest,
  pipes: readonly LogsqlPipe[],
  columns: readonly string[],
  take: (row: BackendRow, value: GroupValue) => boolean,
): Promise<boolean> {
  const { range, stepNs, shiftNs, count } = buckets;
  const by = count === 1 ? columns : [...columns, timeBucket(stepNs, -shiftNs)];
  const asked = query(filter, [...pipes, stats(by, measured(push)), limit(maxPoints + 1)]);
  let points = 0;
  for await (const batch of upstream.rows({ query: asked, range })) {
    points += batch.length;
    if (points > maxPoints) return false;
    for (const row of batch) {
      const endNs = count === 1 ? range.endNs - 1n : parseRowTime(row['_time'] ?? '') + stepNs - 1n;
      if (!take(row, [endNs, Number(row['value'])])) return false;
    }
  }
  return true;
}

/** What the backend adds up. */
function measured({ measure }: LeafPush): StatsFunction {
  return measure === 'bytes'
    ? statsFunction('sum_len', ['_msg'], 'value')
    : statsFunction('count', [], 'value');
}

/** A text for the values of columns. */
export function keyOf(get: Get, columns: readonly string[]): string {
  return JSON.stringify(columns.map((name) => get(name) ?? ''));
}

/** All values of a group together. */
export function sumOf({ values }: Group): number {
  return values.reduce((all, [, value]) => all + value, 0);
}
