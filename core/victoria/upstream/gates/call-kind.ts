import type { TimeRange } from '../../../base/time/range.js';
import type { LogsqlPipe } from '../../logsql/ast.js';
import type { RowsRequest, StatsRangeRequest } from '../types.js';

const manyRows = 10_000;
const manyBuckets = 11_000n;

/** Whether a range is longer than a short one may be. */
export function isLong({ startNs, endNs }: TimeRange, boundMs: number): boolean {
  return endNs - startNs > BigInt(Math.round(boundMs)) * 1_000_000n;
}

/** Whether reading rows is a heavy query (docs/protocol/operation.md#heavy-queries-and-metadata-scans). */
export function isHeavyRows({ query, range, newest }: RowsRequest, boundMs: number): boolean {
  const limit = newest ?? rowLimit(query.pipes);
  return limit === undefined ? isLong(range, boundMs) : limit > manyRows;
}

/** Whether statistics over buckets are a heavy query. */
export function isHeavyStatsRange({ range, stepNs }: StatsRangeRequest, boundMs: number): boolean {
  const { startNs, endNs } = range;
  return isLong(range, boundMs) || (stepNs > 0n && (endNs - startNs) / stepNs > manyBuckets);
}

function rowLimit(pipes: readonly LogsqlPipe[]): number | undefined {
  let least: number | undefined;
  for (const pipe of pipes) {
    const limit = limitOf(pipe);
    if (limit !== undefined && limit > 0 && (least === undefined || limit < least)) least = limit;
  }
  return least;
}

function limitOf(pipe: LogsqlPipe): number | undefined {
  switch (pipe.kind) {
    case 'sort':
      return pipe.limit;
    case 'limit':
    case 'first':
    case 'last':
      return pipe.count;
    default:
      return undefined;
  }
}
