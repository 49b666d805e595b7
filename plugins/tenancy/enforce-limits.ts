import { apiError } from '../../core/base/errors/table.js';
import { untilAborted } from '../../core/base/errors/until-aborted.js';
import { operationOf } from '../../core/operations/index.js';
import type { Exchange } from '../../core/plugin/index.js';
import type { Answer } from '../../core/wire/answer/types.js';
import { readAhead } from '../../core/wire/api/read-ahead.js';
import type { ApiRequest, IndexStatsRequest } from '../../core/wire/api/request.js';
import type { TenantLimits } from '../../core/wire/limits/tenant-limits.js';
import type { QueryOverTime } from '../../core/operations/descriptor.js';
import { printByteSize } from '../../core/wire/api/params/byte-size.js';
import { Selector } from '../../core/wire/api/query.js';
import { ApiError } from '../../core/base/errors/api-error.js';
import { type Expr, type LogExpr, type Matcher, printMatcher, visit } from '../../core/logql/index.js';
import { descriptorOf } from '../../core/logql/stages/index.js';
import { nanosPerSecond } from '../../core/base/time/index.js';

/** Answers a request of the tenants; rows older than `oldestNs` must not be read. */
export type AnswerRequest = (exchange: Exchange, oldestNs: bigint | undefined) => Promise<Answer>;

/**
 * Applies the tenants' limits on the request as a whole: whether it is answered, how far back it may read, how much it may read, and how
 * long it may take. A request that will be rejected for its text alone is left to later stages, unparsed.
 */
export async function enforceLimits(
  exchange: Exchange,
  limits: TenantLimits,
  nowNs: bigint,
  ask: AnswerRequest,
): Promise<Answer> {
  const { op } = exchange.request;
  if (!limits.volumeEnabled && (op === 'volume' || op === 'volume_range'))
    throw apiError('volumeDisabled', {});
  const oldestNs = oldestOf(limits, nowNs);
  const operation = operationOf(exchange.request);
  return withinTime(exchange, limits.queryTimeoutMs, async (timed) => {
    const allowed = withinLength(timed.request, limits);
    if (oldestNs !== undefined || limits.maxQueryBytesRead > 0) await readAhead(allowed, timed.signal);
    const request = oldestNs === undefined ? allowed : operation.limits.within(allowed, oldestNs);
    if (request === undefined) return operation.empty(timed.request);
    if (limits.maxQueryBytesRead > 0)
      await checkBytesRead(request, limits.maxQueryBytesRead, (statistics) =>
        ask(timed.derive({ request: statistics, isFinal: false }), oldestNs),
      );
    return ask(request === timed.request ? timed : timed.derive({ request }), oldestNs);
  });
}

/** True if the limits depend neither on the time nor on stored data. */
export function isTimeless(limits: TenantLimits): boolean {
  return oldestOf(limits, 0n) === undefined && limits.maxQueryBytesRead === 0;
}

async function withinTime(
  exchange: Exchange,
  timeoutMs: number,
  work: (exchange: Exchange) => Promise<Answer>,
): Promise<Answer> {
  if (timeoutMs === 0 || !operationOf(exchange.request).limits.isTimed) return work(exchange);
  const controller = new AbortController();
  const timer = setTimeout(
    () => controller.abort(apiError('queryTimeout', {})),
    Math.min(timeoutMs, maxTimerMs),
  );
  try {
    const timed = exchange.derive({ signal: controller.signal });
    return await untilAborted(work(timed), timed.signal);
  } finally {
    clearTimeout(timer);
  }
}

/** Maximum delay of a timer. */
const maxTimerMs = 2 ** 31 - 1;

/** The oldest time that may be read: anything before the lookback or the retention counts as deleted. Undefined means unlimited. */
function oldestOf(limits: TenantLimits, nowNs: bigint): bigint | undefined {
  const { maxQueryLookbackNs, retentionPeriodNs } = limits;
  const bounds = [maxQueryLookbackNs, retentionPeriodNs].filter((ns) => ns > 0n);
  const [first, ...others] = bounds;
  if (first === undefined) return undefined;
  return nowNs - others.reduce((least, ns) => (ns < least ? ns : least), first);
}

/** Shortens the default range of a listing to the tenants' maximum. */
function withinLength(request: ApiRequest, { maxQueryLengthNs }: TenantLimits): ApiRequest {
  if (!('isOpenRange' in request) || !request.isOpenRange || maxQueryLengthNs === 0n) return request;
  const { startNs, endNs } = request.range;
  const allowedNs = endNs - maxQueryLengthNs;
  return startNs >= allowedNs ? request : { ...request, range: { startNs: allowedNs, endNs } };
}

/** Time for which Loki looks back for logs in a query without a window. */
const lookBackNs = 30n * nanosPerSecond;

/**
 * Rejects a query that would read more than `maxBytes`, according to the index statistics of each selector over the time it reads. As in
 * Loki, a log query without filters is not checked: it stops at its limit.
 * @param ask answers index statistics of the tenants
 * @throws ApiError `tooManyBytesRead`
 */
async function checkBytesRead(
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

/** The statistics, if they were answered. As in Loki, statistics that are rejected for another reason do not count against the query. */
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
