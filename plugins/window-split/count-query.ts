import { printSelector } from '../../core/logql/index.js';
import type { Matcher } from '../../core/logql/ast.js';
import type { MatrixAnswer } from '../../core/wire/answer/types.js';
import { Query } from '../../core/wire/api/query.js';
import type { QueryRangeRequest } from '../../core/wire/api/request.js';

const msNs = 1_000_000n;

/** Counts the rows of streams in buckets: the first begins at the first time, the last ends at the last. */
export function countRequest(
  matchers: readonly Matcher[],
  bucketMs: number,
  firstMs: number,
  lastMs: number,
): QueryRangeRequest {
  return {
    op: 'query_range',
    query: new Query(printSelector({ matchers }), 'accept'),
    range: { startNs: BigInt(firstMs) * msNs, endNs: BigInt(lastMs) * msNs },
    stepNs: BigInt(bucketMs) * msNs,
    limit: 1,
    direction: 'backward',
    intervalNs: 0n,
    part: 'count',
  };
}

/** The counts by the start of their bucket in Unix milliseconds. */
export function countsOf({ series }: MatrixAnswer): ReadonlyMap<number, number> {
  const points = series.flatMap((each) => each.points);
  return new Map(points.map(({ timestampMs, value }) => [timestampMs, value]));
}
