import { LabelSet } from '../../base/labels/label-set.js';
import type { TimeRange } from '../../base/time/range.js';
import type { LogsqlFilter } from '../../victoria/logsql/ast.js';
import { query } from '../../victoria/logsql/build.js';
import type { Upstream } from '../../victoria/upstream/types.js';
import { noStats } from '../../wire/answer/merge/shared.js';
import type { MatrixAnswer } from '../../wire/answer/types.js';
import type { QueryRangeRequest } from '../../wire/api/request.js';
import type { Backend } from '../backend.js';
import { rowsOfStreams } from '../metric/row-windows.js';
import type { LineCountsPlan } from '../plan/types.js';
import { countByTime } from '../rows/count-by-time.js';

async function selectedRows(filter: LogsqlFilter, range: TimeRange, upstream: Upstream): Promise<number> {
  return rowsOfStreams(await upstream.list({ listing: 'streams', query: query(filter), range }));
}

/** The rows of streams by time: a point for each bucket of the request's step, at its start. */
export async function answerLineCounts(
  { filter, isTotal = false }: LineCountsPlan,
  { range, stepNs }: QueryRangeRequest,
  { upstream }: Pick<Backend, 'upstream'>,
): Promise<MatrixAnswer> {
  const counts = isTotal
    ? [{ startNs: range.startNs, rows: await selectedRows(filter, range, upstream) }]
    : await countByTime(filter, range, stepNs, upstream, true);
  const points = counts.map(({ startNs, rows }) => ({
    timestampMs: Number(startNs / 1_000_000n),
    value: rows,
  }));
  return { kind: 'matrix', series: [{ labels: LabelSet.empty, points }], stats: noStats, warnings: [] };
}
