import type { LogsqlFilter, LogsqlPipe } from '../../core/logsql/ast.js';
import { and, exact, limit, or, query, stats, timeBucket, where } from '../../core/logsql/build.js';
import { printFilter } from '../../core/logsql/print.js';
import { parseRowTime } from '../../core/names/row-time.js';
import type { LeafPush } from '../../core/plan/metric-push.js';
import { sumOf, measured } from './metric-counting.js';
import type { Upstream } from '../../core/plugin/index.js';
import type { Buckets } from './metric-buckets.js';
import type { Get, Grouping } from './metric-grouping.js';
import type { Group } from './metric-groups.js';
import type { Cutting } from './metric-shapes.js';

/** Values of all groups together that are held until it is certain that there are no more. */
const maxPoints = 200_000;
/** Shapes that say nothing of the level whose lines are asked for by themselves. */
const maxUntold = 50;
// The backend's limit is 16384 bytes a query.
const maxUntoldBytes = 6000;

/** Lines counted by level. */
export interface ShapeCount {
  readonly groups: readonly (Group & { readonly line: string })[];
  /** Leaves the rows whose level is not told by their shape; undefined where there are none. */
  readonly untold: readonly LogsqlPipe[] | undefined;
}

export interface ShapeRequest {
  readonly upstream: Upstream;
  readonly cutting: Cutting;
  /** Lines, of which those that are accepted tell the level by nothing but themselves. */
  readonly filter: LogsqlFilter;
  readonly accepts: (group: Pick<Group, 'stream' | 'get'>) => boolean;
  readonly grouping: Grouping;
  readonly push: LeafPush;
  readonly buckets: Buckets;
}

/** Counts lines by shape and so by level. Undefined when there are too many shapes. */
export async function countByShape(request: ShapeRequest): Promise<ShapeCount | undefined> {
  const { upstream, cutting, filter, accepts, push, buckets } = request;
  const { columns, streamOf } = request.grouping;
  const { range, stepNs, shiftNs, count } = buckets;
  const keys = [...columns, ...cutting.columns];
  const by = count === 1 ? keys : [...keys, timeBucket(stepNs, -shiftNs)];
  const pipes = [...cutting.pipes, stats(by, measured(push)), limit(maxPoints + 1)];
  const groups = new Map<string, Group & { readonly line: string; readonly values: [bigint, number][] }>();
  const untold = new Map<string, LogsqlFilter>();
  let points = 0;
  for await (const batch of upstream.rows({ query: query(filter, pipes), range })) {
    points += batch.length;
    if (points > maxPoints) return undefined;
    for (const row of batch) {
      const get: Get = (name) => row[name];
      const stream = streamOf(get);
      if (stream === undefined) return undefined;
      if (!accepts({ stream, get })) continue;
      const level = cutting.levelOf(get);
      if (level === undefined) {
        untold.set(keyOf(get, cutting.columns), shapeFilter(get, cutting));
        continue;
      }
      const key = `${level} ${keyOf(get, columns)}`;
      let group = groups.get(key);
      if (group === undefined)
        groups.set(key, (group = { stream, get, line: level === '' ? 'x' : level, values: [] }));
      const endNs = count === 1 ? range.endNs - 1n : parseRowTime(row['_time'] ?? '') + stepNs - 1n;
      group.values.push([endNs, Number(row['value'])]);
    }
  }
  const rows = untold.size === 0 ? undefined : rowsOf(cutting, [...untold.values()]);
  if (untold.size > 0 && rows === undefined) return undefined;
  return { groups: [...groups.values()].filter((group) => sumOf(group) !== 0), untold: rows };
}

function keyOf(get: Get, columns: readonly string[]): string {
  return JSON.stringify(columns.map((name) => get(name) ?? ''));
}

function shapeFilter(get: Get, { columns }: Cutting): LogsqlFilter {
  return and(...columns.map((name) => exact(name, get(name) ?? '')));
}

/** Undefined where the shapes are too many to be named in a query. */
function rowsOf({ pipes }: Cutting, shapes: readonly LogsqlFilter[]): readonly LogsqlPipe[] | undefined {
  const wanted = or(...shapes);
  const isShort = shapes.length <= maxUntold && Buffer.byteLength(printFilter(wanted)) <= maxUntoldBytes;
  return isShort ? [...pipes, where(wanted)] : undefined;
}
