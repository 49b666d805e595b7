import type { LogsqlFilter, LogsqlPipe } from '../../../victoria/logsql/ast.js';
import { and, exact, or, where } from '../../../victoria/logsql/build.js';
import { printFilter } from '../../../victoria/logsql/print.js';
import { keyOf, readBuckets, sumOf, type CountRequest } from './counting.js';
import type { Get } from './grouping.js';
import type { Group, GroupValue } from './groups.js';
import type { Cutting } from './shapes.js';

/** Shapes that say nothing of the level whose lines are asked for by themselves. */
const maxUntold = 50;
// The backend's limit is 16384 bytes a query.
const maxUntoldBytes = 6000;

/** Lines counted by what they mean. */
export interface ShapeCount {
  readonly groups: readonly Group[];
  /** Leaves the rows whose meaning is not told by their shape; undefined where there are none. */
  readonly untold: readonly LogsqlPipe[] | undefined;
}

export interface ShapeRequest extends CountRequest {
  readonly cutting: Cutting;
  /** What accepted lines mean is told by nothing but themselves. */
  readonly accepts: (group: Pick<Group, 'stream' | 'get'>) => boolean;
}

/** Counts lines by shape and so by what they mean. Undefined when there are too many shapes. */
export async function countByShape(request: ShapeRequest): Promise<ShapeCount | undefined> {
  const { cutting, accepts } = request;
  const { columns, streamOf } = request.grouping;
  const groups = new Map<string, Group & { readonly values: GroupValue[] }>();
  const untold = new Map<string, LogsqlFilter>();
  const keys = [...columns, ...cutting.columns];
  const isComplete = await readBuckets(request, cutting.pipes, keys, (row, value) => {
    const get: Get = (name) => row[name];
    const stream = streamOf(get);
    if (stream === undefined) return false;
    if (!accepts({ stream, get })) return true;
    const told = cutting.toldBy(get);
    if (told === undefined) {
      untold.set(keyOf(get, cutting.columns), shapeFilter(get, cutting));
      return true;
    }
    const key = `${keyOf(get, columns)} ${told.level ?? ''} ${told.line}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { stream, get, told, values: [value] });
    else group.values.push(value);
    return groups.size <= request.maxGroups;
  });
  if (!isComplete) return undefined;
  const rows = untold.size === 0 ? undefined : rowsOf(cutting, [...untold.values()]);
  if (untold.size > 0 && rows === undefined) return undefined;
  return { groups: [...groups.values()].filter((group) => sumOf(group) !== 0), untold: rows };
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
