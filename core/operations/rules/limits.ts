import { printGoDuration, printPrometheusDuration } from '../../base/time/index.js';
import type { TimeRange } from '../../base/time/range.js';
import { apiError } from '../../base/errors/table.js';
import { logQueriesOf, visit, type Expr } from '../../logql/index.js';
import { checkEntriesLimit, lengthOf } from '../../wire/api/params/index.js';
import { readAhead } from '../../wire/api/read-ahead.js';
import type { QueryRangeRequest, QueryRequest } from '../../wire/api/request.js';
import type { TenantLimits } from '../../wire/limits/tenant-limits.js';

interface Ranged {
  readonly range: TimeRange;
}

/** Maximum number of points of a query_range (docs/protocol/errors-and-limits.md#refused-queries). */
const maxPoints = 11_000n;

export function checkResolution({ range, stepNs }: QueryRangeRequest): void {
  if (lengthOf(range) / stepNs > maxPoints) throw apiError('tooManyPoints', {});
}

export function checkRange({ range }: Ranged, { maxQueryLengthNs }: TenantLimits): void {
  const lengthNs = lengthOf(range);
  if (maxQueryLengthNs === 0n || lengthNs <= maxQueryLengthNs) return;
  // Loki formats the first as a Go duration and the second as a Prometheus duration.
  throw apiError('rangeTooLong', {
    length: printGoDuration(lengthNs),
    limit: printPrometheusDuration(maxQueryLengthNs),
  });
}

/** Checks the number of requested entries. Only log queries return entries; the query is only parsed if the limit would be exceeded. */
export async function checkEntries(
  request: QueryRangeRequest,
  { maxEntriesLimitPerQuery }: TenantLimits,
  signal: AbortSignal,
): Promise<void> {
  if (maxEntriesLimitPerQuery === 0 || request.limit <= maxEntriesLimitPerQuery) return;
  await readAhead(request, signal);
  if (request.query.ast.kind === 'log') checkEntriesLimit(request, maxEntriesLimitPerQuery);
}

/** Checks the number of lines to scan, which count as entries of a log query. */
export function checkScannedLines(
  { lineLimit }: { readonly lineLimit: number },
  { maxEntriesLimitPerQuery }: TenantLimits,
): void {
  checkEntriesLimit({ limit: lineLimit }, maxEntriesLimitPerQuery);
}

/** Checks the lengths of windows. As in Loki, the error names the last window that is too long. */
export async function checkIntervals(
  request: QueryRangeRequest | QueryRequest,
  { maxQueryRangeNs }: TenantLimits,
  signal: AbortSignal,
): Promise<void> {
  if (maxQueryRangeNs === 0n) return;
  await readAhead(request, signal);
  let longest: bigint | undefined;
  visit(request.query.ast, (node) => {
    if (node.kind === 'log-range' && node.intervalNanoseconds > maxQueryRangeNs)
      longest = node.intervalNanoseconds;
  });
  if (longest === undefined) return;
  throw apiError('intervalTooLong', {
    interval: printPrometheusDuration(longest),
    limit: printPrometheusDuration(maxQueryRangeNs),
  });
}

/** The part of a range that is not older than `oldestNs`. */
export function shortened<Request extends Ranged>(request: Request, oldestNs: bigint): Request | undefined {
  const { startNs, endNs } = request.range;
  if (startNs >= oldestNs) return request;
  return endNs < oldestNs ? undefined : { ...request, range: { startNs: oldestNs, endNs } };
}

/** Used for operations that read no logs, or have their own rules for the range. */
export function unshortened<Request>(request: Request): Request {
  return request;
}

/** True if the expression reads logs; otherwise its value is the same at all times. */
export function readsLogs({ query }: { readonly query: { readonly ast: Expr } }): boolean {
  return logQueriesOf(query.ast).length > 0;
}

/** Limits of operations that list or sum over a range. */
export const rangedLimits = {
  checks: [checkRange],
  within: shortened,
  isTimed: true,
  bytesRead: undefined,
};

/** Limits of operations that read the lines of a log query. */
export const scanLimits = { ...rangedLimits, checks: [checkRange, checkScannedLines] };

/** Limits of operations that read no logs. */
export const noLimits = { checks: [], within: unshortened, isTimed: true, bytesRead: undefined };
