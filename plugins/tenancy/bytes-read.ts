import type { QueryOverTime } from '../../core/operations/descriptor.js';
import { operationOf } from '../../core/operations/index.js';
import { printByteSize } from '../../core/wire/api/params/byte-size.js';
import { Selector } from '../../core/wire/api/query.js';
import type { ApiRequest, IndexStatsRequest } from '../../core/wire/api/request.js';
import type { Answer } from '../../core/wire/answer/types.js';
import { ApiError } from '../../core/base/errors/api-error.js';
import { apiError } from '../../core/base/errors/table.js';
import { printMatcher, visit, type Expr, type LogExpr, type Matcher } from '../../core/logql/index.js';
import { descriptorOf } from '../../core/logql/stages/index.js';
import { nanosPerSecond } from '../../core/base/time/index.js';

/** How far back Loki looks for logs in a query without a window. */
const lookBackNs = 30n * nanosPerSecond;

/**
 * Refuses a query that would read more than `maxBytes`, by the index statistics of its selectors over the time that each one reads. As in
 * Loki, a log query without filters is not checked: it stops at its limit.
 * @param ask answers index statistics of the tenants
 * @throws ApiError `tooManyBytesRead`
 */
export async function checkBytesRead(
  request: ApiRequest,
  maxBytes: number,
  ask: (request: IndexStatsRequest) => Promise<Answer>,
): Promise<void> {
  const read = operationOf(request).limits.bytesRead?.(request);
  if (read === undefined) return;
  const bytes = await Promise.all(
    statisticsOf(read).map(async (statistics) => bytesOf(await answered(ask(statistics)))),
  );
  const total = bytes.reduce((sum, part) => sum + part, 0);
  if (total > maxBytes)
    throw apiError('tooManyBytesRead', { read: printByteSize(total), limit: printByteSize(maxBytes) });
}

/** As in Loki, statistics that are refused for another reason do not count against the query. */
async function answered(asked: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ApiError && error.status === 400) return undefined;
    throw error;
  }
}

function bytesOf(answer: Answer | undefined): number {
  return answer?.kind === 'index-stats' ? answer.bytes : 0;
}

function statisticsOf({ query, range: { startNs, endNs } }: QueryOverTime): readonly IndexStatsRequest[] {
  return readsOf(query.ast).map(({ matchers, intervalNs, offsetNs }) => ({
    op: 'index_stats',
    query: new Selector(
      `{${matchers.map((matcher) => printMatcher(matcher)).join(', ')}}`,
      'accept',
      matchers,
    ),
    range: { startNs: startNs - offsetNs - intervalNs, endNs: endNs - offsetNs },
  }));
}

interface Read {
  readonly matchers: readonly Matcher[];
  readonly intervalNs: bigint;
  readonly offsetNs: bigint;
}

function readsOf(expr: Expr): readonly Read[] {
  if (expr.kind === 'log')
    return hasFilter(expr)
      ? [{ matchers: expr.selector.matchers, intervalNs: lookBackNs, offsetNs: 0n }]
      : [];
  const reads: Read[] = [];
  visit(expr, (node) => {
    if (node.kind !== 'log-range') return;
    const { query, intervalNanoseconds, offsetNanoseconds } = node;
    const intervalNs = intervalNanoseconds === 0n ? lookBackNs : intervalNanoseconds;
    reads.push({ matchers: query.selector.matchers, intervalNs, offsetNs: offsetNanoseconds });
  });
  return reads;
}

function hasFilter({ stages }: LogExpr): boolean {
  return stages.some((stage) => descriptorOf(stage).isFilter(stage));
}
