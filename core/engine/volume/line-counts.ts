import { query, stats, statsFunction, timeBucket } from '../../victoria/logsql/build.js';
import { parseRowTime } from '../../victoria/names/row-time.js';
import { columnOf } from '../../victoria/upstream/types.js';
import type { MatrixAnswer } from '../../wire/answer/types.js';
import type { QueryRangeRequest } from '../../wire/api/request.js';
import { LabelSet } from '../../base/labels/label-set.js';
import { noStats } from '../../wire/answer/merge/shared.js';
import type { Backend } from '../backend.js';
import type { LineCountsPlan } from '../plan/types.js';

/**
 * The rows of streams by time, in one call that reads no line: a point for each bucket of the request's step, at its start. Rows are
 * counted as they are stored, so this tells whether there are more than before, not what a query would count.
 */
export async function answerLineCounts(
  { filter }: LineCountsPlan,
  { range, stepNs }: QueryRangeRequest,
  { upstream }: Pick<Backend, 'upstream'>,
): Promise<MatrixAnswer> {
  const counting = stats([timeBucket(stepNs)], statsFunction('count', [], 'rows'));
  const points: { readonly timestampMs: number; readonly value: number }[] = [];
  for await (const batch of upstream.rows({ query: query(filter, [counting]), range }))
    for (const row of batch)
      points.push({
        timestampMs: Number(parseRowTime(row._time ?? '') / 1_000_000n),
        value: Number(columnOf(row, 'rows') ?? 0),
      });
  return { kind: 'matrix', series: [{ labels: LabelSet.empty, points }], stats: noStats, warnings: [] };
}
