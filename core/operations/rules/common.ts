import { apiError } from '../../base/errors/table.js';
import { inOrder, type KeyParts, leftOut, scalar } from '../../base/key-parts.js';
import { doAll } from '../../base/pace/steps.js';
import { printGoDuration, printPrometheusDuration } from '../../base/time/index.js';
import type { TimeRange } from '../../base/time/range.js';
import { type Expr, logQueriesOf, mapMatchers, printMatcher, visit } from '../../logql/index.js';
import { mergeStreams } from '../../wire/answer/merge/index.js';
import type { Answer } from '../../wire/answer/types.js';
import { checkEntriesLimit, lengthOf } from '../../wire/api/params/index.js';
import {
  type Browse,
  type Query,
  type QueryRangeRequest,
  type QueryRequest,
  readAhead,
  Selector,
} from '../../wire/api/request.js';
import type { TenantLimits } from '../../wire/limits/tenant-limits.js';
import type { ChangeMatchers, TtlRules } from '../descriptor.js';

interface OfQuery {
  readonly query: Query;
}
interface OfSelector {
  readonly query: Selector;
}
interface OfOptionalSelector {
  readonly query?: Selector;
}
interface OfSelectors {
  readonly selectors: readonly Selector[];
}

function textOf({ query }: { readonly query?: { readonly text: string } }): readonly string[] {
  return query === undefined ? [] : [query.text];
}

/** Selection by a LogQL query with all its selectors. */
export const byQuery = {
  texts: textOf,
  mapSelectors: <Request extends OfQuery>(request: Request, change: ChangeMatchers): Request => ({
    ...request,
    query: request.query.withAst(mapMatchers(request.query.ast, change)),
  }),
};

/** Selection by a LogQL query that reads no logs. */
export const byQueryText = { texts: textOf, mapSelectors: unchanged };

export const bySelector = {
  texts: textOf,
  mapSelectors: <Request extends OfSelector>(request: Request, change: ChangeMatchers): Request => ({
    ...request,
    query: changed(request.query, change),
  }),
};

/** Selection by an optional selector: a missing one lists everything, and is added if `change` returns matchers for an empty list. */
export const byOptionalSelector = {
  texts: textOf,
  mapSelectors: <Request extends OfOptionalSelector>(request: Request, change: ChangeMatchers): Request => {
    const query = changed(request.query, change);
    return query.matchers.length === 0 ? request : { ...request, query };
  },
};

/** Selection by several selectors: a stream matches if any of them does. */
export const bySelectors = {
  texts: ({ selectors }: OfSelectors): readonly string[] => selectors.map((selector) => selector.text),
  mapSelectors: <Request extends OfSelectors>(request: Request, change: ChangeMatchers): Request => {
    // No selector means every stream, the same as one selector without matchers.
    const selectors = request.selectors.length === 0 ? [undefined] : request.selectors;
    const narrowed = selectors.map((selector) => changed(selector, change));
    return { ...request, selectors: narrowed.filter(({ matchers }) => matchers.length > 0) };
  },
};

export const byNothing = { texts: (): readonly string[] => [], mapSelectors: unchanged };

function unchanged<Request>(request: Request): Request {
  return request;
}

function changed(selector: Selector | undefined, change: ChangeMatchers): Selector {
  const matchers = change(selector?.matchers ?? []);
  const text = `{${matchers.map((matcher) => printMatcher(matcher)).join(', ')}}`;
  return selector === undefined
    ? new Selector(text, 'accept', matchers)
    : selector.withMatchers(text, matchers);
}

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
function checkScannedLines(
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
function unshortened<Request>(request: Request): Request {
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

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const builtInLabelsTtlMs = 5 * minuteMs;
const seriesTtlMs = 30_000;
/** TTL of index statistics, volumes and shards. */
const indexTtlMs = 10_000;
/** TTL of detected fields and labels, for windows of up to an hour. */
const detectedTtlMs = 90_000;
/** TTL of past patterns, which never change: a hundred years. */
const patternsTtlMs = 100 * 365 * 24 * hourMs;
/** Minimum TTL of empty listings of labels and label values (docs/protocol/operation.md#cache-times). */
const emptyListingTtlMs = 30_000;

/** Factors of the TTL by window, since listings of longer windows change more slowly (docs/protocol/operation.md#cache-times). */
const windowFactors: readonly (readonly [windowMs: number, factor: number])[] = [
  [hourMs, 1],
  [6 * hourMs, 3],
  [24 * hourMs, 10],
];
const longWindowFactor = 20;

export function queryTtl(_request: object, _answer: Answer, rules: TtlRules): number {
  return rules.queryTtl;
}

function namesTtl({ range }: Ranged, answer: Answer, rules: TtlRules): number {
  const { labelsCacheTtl, diskCacheMinTtl, peerWriteThroughMinTtl } = rules;
  if (answer.kind === 'names' && answer.values.length === 0)
    return Math.max(emptyListingTtlMs, diskCacheMinTtl, peerWriteThroughMinTtl);
  return scaledTtlMs(range, labelsCacheTtl === 0 ? builtInLabelsTtlMs : labelsCacheTtl);
}

export function patternsTtl(_request: object, answer: Answer): number {
  return answer.kind === 'patterns' && answer.patterns.length === 0 ? emptyListingTtlMs : patternsTtlMs;
}

function scaledTtlMs({ startNs, endNs }: TimeRange, baseMs: number): number {
  const windowMs = Number((endNs - startNs) / 1_000_000n);
  const factor = windowFactors.find(([limitMs]) => windowMs <= limitMs)?.[1] ?? longWindowFactor;
  return Math.min(baseMs * factor, Math.max(hourMs, baseMs));
}

export function isRecentQuery({ range }: Ranged, nowMs: number, rules: TtlRules): boolean {
  return isRecentAt(range.endNs, nowMs, rules);
}

export function isRecentInstant(
  { timeNs }: { readonly timeNs: bigint },
  nowMs: number,
  rules: TtlRules,
): boolean {
  return isRecentAt(timeNs, nowMs, rules);
}

/** True for a recent listing; independent of `-recent-tail-refresh-enabled`, which concerns queries. */
function isRecentListing({ range }: Ranged, nowMs: number, rules: TtlRules): boolean {
  const { maxMetadataCacheFreshness } = rules;
  return maxMetadataCacheFreshness > 0 && endsWithin(range.endNs, nowMs, maxMetadataCacheFreshness);
}

/** True if an answer includes times that are not past, so that it cannot be cached indefinitely, whether or not queries are refreshed. */
export function isNotPast(
  { range }: Ranged,
  nowMs: number,
  rules: Pick<TtlRules, 'recentTailRefreshWindow'>,
): boolean {
  return endsWithin(range.endNs, nowMs, rules.recentTailRefreshWindow);
}

function isRecentAt(endNs: bigint, nowMs: number, rules: TtlRules): boolean {
  return rules.recentTailRefreshEnabled && endsWithin(endNs, nowMs, rules.recentTailRefreshWindow);
}

function endsWithin(endNs: bigint, nowMs: number, windowMs: number): boolean {
  return Number(endNs / 1_000_000n) >= nowMs - windowMs;
}

/** Caching of listings of names, of series, of the index and of detected fields, besides their keys. */
export const namesCache = { ttlMs: namesTtl, isRecent: isRecentListing, isChunked: false };
export const seriesCache = { ...namesCache, ttlMs: () => seriesTtlMs };
export const indexCache = { ttlMs: () => indexTtlMs, isRecent: () => false, isChunked: false };
export const detectedCache = {
  ...indexCache,
  ttlMs: ({ range }: Ranged) => scaledTtlMs(range, detectedTtlMs),
};

export const timeRange: KeyParts<TimeRange> = { startNs: scalar, endNs: scalar };
export const browsed: KeyParts<Browse> = { limit: scalar, offset: scalar, search: scalar };
export const openRange = leftOut(
  'the range is part of the cache key; it was shortened to the limit of the tenant',
);

/** A key for the union of several selectors, independent of their order. */
export function textSet(selectors: readonly { readonly text: string }[]): string {
  return inOrder([...new Set(selectors.map((selector) => selector.text))].sort());
}

export function noStreams(): Answer {
  return doAll(mergeStreams([], { direction: 'backward' }));
}
