import type { LogsqlFilter, StatsFunction } from '../../core/logsql/ast.js';
import { query, stats, statsFunction } from '../../core/logsql/build.js';
import type { LeafPush } from '../../core/plan/metric-push.js';
import type { Upstream } from '../../core/plugin/index.js';
import { endOfBucket, type Buckets } from './metric-buckets.js';
import type { Grouping } from './metric-grouping.js';
import type { Group } from './metric-groups.js';

/** What the backend adds up. */
export function measured({ measure }: LeafPush): StatsFunction {
  return measure === 'bytes'
    ? statsFunction('sum_len', ['_msg'], 'value')
    : statsFunction('count', [], 'value');
}

/** The groups of rows by buckets of time; undefined where a group belongs to no known stream. */
export async function countGroups(
  upstream: Upstream,
  filter: LogsqlFilter,
  push: LeafPush,
  { columns, streamOf }: Grouping,
  buckets: Buckets,
): Promise<readonly Group[] | undefined> {
  const { range, stepNs, shiftNs } = buckets;
  const asked = { query: query(filter, [stats(columns, measured(push))]), range };
  const series =
    buckets.count === 1
      ? (await upstream.stats(asked)).map(({ labels, value }) => ({ labels, points: [[0, value] as const] }))
      : await upstream.statsRange({ ...asked, stepNs, shiftNs });
  const groups: Group[] = [];
  for (const { labels, points } of series) {
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

/** All values of a group together. */
export function sumOf({ values }: Group): number {
  return values.reduce((all, [, value]) => all + value, 0);
}
