import { checkEntriesLimit, lengthOf } from '../../core/wire/api/params/index.js';
import type { TimeRange } from '../../core/base/time/range.js';
import type { ApiRequest, QueryRangeRequest, QueryRequest } from '../../core/wire/api/request.js';
import { readAhead } from '../../core/wire/api/read-ahead.js';
import { apiError } from '../../core/base/errors/table.js';
import type { TenantLimits } from '../../core/wire/limits/tenant-limits.js';
import type { ProcessLimits } from '../../core/wire/limits/limits.js';
import { visit } from '../../core/logql/index.js';
import { printGoDuration, printPrometheusDuration } from '../../core/base/time/index.js';

/** Points a query_range may have (docs/protocol/errors-and-limits.md#refused-queries). */
const maxPoints = 11_000n;

/** Throws the error of the first limit that a request exceeds; a limit of 0 is off. Costs nothing but arithmetic for what is allowed. */
export async function checkRequest(
  request: ApiRequest,
  limits: TenantLimits,
  process: ProcessLimits,
  signal: AbortSignal,
): Promise<void> {
  for (const text of queryTexts(request)) checkText(text, process.maxQueryLengthBytes);
  switch (request.op) {
    case 'query_range':
      checkResolution(request);
      checkRange(request.range, limits);
      await checkEntries(request, limits, signal);
      await checkIntervals(request, limits, signal);
      return;
    case 'query':
      await checkIntervals(request, limits, signal);
      return;
    case 'labels':
    case 'label_values':
    case 'series':
    case 'index_stats':
    case 'volume':
    case 'volume_range':
    case 'index_shards':
    case 'detected_labels':
      checkRange(request.range, limits);
      return;
    case 'detected_fields':
    case 'detected_field_values':
      checkRange(request.range, limits);
      // The lines to look at are the entries of a log query.
      checkEntriesLimit({ limit: request.lineLimit }, limits.maxEntriesLimitPerQuery);
      return;
    case 'tail':
    case 'delete':
    case 'patterns':
    case 'format_query':
    case 'tenant':
      return;
  }
}

function queryTexts(request: ApiRequest): readonly string[] {
  if (request.op === 'tenant') return [];
  if (request.op === 'series') return request.selectors.map((selector) => selector.text);
  return request.query === undefined ? [] : [request.query.text];
}

function checkText(text: string, maxBytes: number): void {
  // A text has at least as many bytes as UTF-16 units, and at most three times as many.
  if (maxBytes === 0 || text.length * 3 <= maxBytes) return;
  const length = Buffer.byteLength(text);
  if (length > maxBytes) throw apiError('queryTooLong', { length, limit: maxBytes });
}

function checkResolution({ range, stepNs }: QueryRangeRequest): void {
  if (lengthOf(range) / stepNs > maxPoints) throw apiError('tooManyPoints', {});
}

function checkRange(range: TimeRange, { maxQueryLengthNs }: TenantLimits): void {
  const lengthNs = lengthOf(range);
  if (maxQueryLengthNs === 0n || lengthNs <= maxQueryLengthNs) return;
  // Loki writes the first as a Go duration and the second as a Prometheus duration.
  throw apiError('rangeTooLong', {
    length: printGoDuration(lengthNs),
    limit: printPrometheusDuration(maxQueryLengthNs),
  });
}

/** Only log queries return entries; the query is parsed for that only when the limit would be exceeded. */
async function checkEntries(
  request: QueryRangeRequest,
  { maxEntriesLimitPerQuery }: TenantLimits,
  signal: AbortSignal,
): Promise<void> {
  if (maxEntriesLimitPerQuery === 0 || request.limit <= maxEntriesLimitPerQuery) return;
  await readAhead(request, signal);
  if (request.query.ast.kind === 'log') checkEntriesLimit(request, maxEntriesLimitPerQuery);
}

/** As in Loki, the last window that is too long is the one that is named. */
async function checkIntervals(
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
