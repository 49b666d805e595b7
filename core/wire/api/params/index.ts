/**
 * Parses merged HTTP parameters into an ApiRequest: defaults, order of checks and error texts of
 * docs/protocol/requests.md#common-parameters and docs/protocol/requests.md#parameters-by-endpoint. Query texts are not parsed here: a
 * Query parses itself when its tree is first used.
 */
import { apiError } from '../../../base/errors/table.js';
import {
  type Browse,
  type FormatQueryRequest,
  type IndexShardsRequest,
  type IndexStatsRequest,
  type LabelsRequest,
  type LabelValuesRequest,
  Query,
  type QueryRangeRequest,
  type QueryRequest,
  Selector,
  type SeriesRequest,
  type TailRequest,
} from '../request.js';
import type { TimeRange } from '../../../base/time/range.js';
import { readByteSize } from './byte-size.js';
import {
  first,
  hourNs,
  type ParamContext,
  type Params,
  readDirection,
  readInt,
  readInterval,
  readLimit,
  readStep,
  readTime,
  readTimeRange,
} from './reader.js';
import { nanosPerSecond } from '../../../base/time/index.js';
import type { FollowRules } from '../follow-rules.js';

export { paramContext, type ParamContext } from './reader.js';
export { lengthOf, type Params } from './reader.js';
export * from './discovery.js';

export function parseQueryRange(params: Params, context: ParamContext): QueryRangeRequest {
  const range = readTimeRange(params, context, hourNs);
  if (range.endNs < range.startNs) throw apiError('endBeforeStart', {});
  const limit = readLimit(params, 'limit', context.defaultLimit);
  const direction = readDirection(params);
  const stepNs = readStep(params, range);
  const intervalNs = readInterval(params);
  return {
    op: 'query_range',
    query: readQuery(params, context),
    range,
    stepNs,
    limit,
    direction,
    intervalNs,
  };
}

export function parseInstantQuery(params: Params, context: ParamContext): QueryRequest {
  const limit = readLimit(params, 'limit', context.defaultLimit);
  const timeNs = readTime(params, 'time', context);
  const direction = readDirection(params);
  return { op: 'query', query: readQuery(params, context), timeNs, limit, direction };
}

export function parseLabels(params: Params, context: ParamContext): LabelsRequest {
  const ranged = readListingRange(params, context);
  return {
    op: 'labels',
    ...ranged,
    ...readListingQuery(params, context),
    browse: readBrowse(params, context),
  };
}

export function parseLabelValues(name: string, params: Params, context: ParamContext): LabelValuesRequest {
  const ranged = readListingRange(params, context);
  const query = readListingQuery(params, context);
  const browse = readBrowse(params, context);
  return {
    op: 'label_values',
    name,
    ...ranged,
    ...query,
    browse: query.query === undefined ? ofIndex(browse, context) : browse,
  };
}

/** Maximum number of selectors; this number is parsed and planned within some 50 ms, in steps. */
const maxSelectors = 1_000;

export function parseSeries(params: Params, context: ParamContext): SeriesRequest {
  const ranged = readListingRange(params, context);
  const texts = [...new Set([...(params.get('match') ?? []), ...(params.get('match[]') ?? [])])];
  if (texts.length > maxSelectors)
    throw apiError('tooManySelectors', { limit: maxSelectors, count: texts.length });
  // No matcher and a single {} both mean every stream; {} next to others is rejected by the matcher parser.
  const isAll = texts.length === 1 && /^\s*\{\s*\}\s*$/.test(texts[0] ?? '');
  const selectors = isAll ? [] : texts.map((text) => new Selector(text, context.dottedNames));
  return { op: 'series', ...ranged, selectors };
}

export function parseIndexStats(params: Params, context: ParamContext): IndexStatsRequest {
  // Loki parses index/stats with all parameters of query_range, and rejects the same values.
  const { range } = parseQueryRange(params, context);
  return { op: 'index_stats', range, query: new Selector(first(params, 'query'), context.dottedNames) };
}

export function parseIndexShards(params: Params, context: ParamContext): IndexShardsRequest {
  // Parsed like index/stats.
  const { range, query } = parseQueryRange(params, context);
  const targetBytesPerShard = readByteSize(first(params, 'targetBytesPerShard')) ?? 0;
  if (targetBytesPerShard === 0) throw apiError('shardSizeNotPositive', {});
  return { op: 'index_shards', range, query, targetBytesPerShard };
}

export function parseFormatQuery(params: Params, context: ParamContext): FormatQueryRequest {
  return { op: 'format_query', query: readQuery(params, context) };
}

function readQuery(params: Params, context: ParamContext): Query {
  return new Query(first(params, 'query'), context.dottedNames);
}

function readListingRange(
  params: Params,
  context: ParamContext,
): { readonly range: TimeRange; readonly isOpenRange?: boolean } {
  const isOpen = ['start', 'end', 'since'].every((name) => first(params, name) === '');
  const sinceNs = isOpen && context.metadataLookbackNs > 0n ? context.metadataLookbackNs : hourNs;
  const range = readTimeRange(params, context, sinceNs);
  if (range.endNs < range.startNs) throw apiError('rangeGone', {});
  if (!isOpen) return { range };
  return {
    range: context.metadataLookbackNs === 0n ? { startNs: 0n, endNs: range.endNs } : range,
    isOpenRange: true,
  };
}

function readListingQuery(params: Params, context: ParamContext): { readonly query?: Selector } {
  const text = first(params, 'query');
  // An empty query and * both browse everything (docs/protocol/requests.md#browsing-label-values).
  return text === '' || text === '*' ? {} : { query: new Selector(text, context.dottedNames) };
}

function readBrowse(params: Params, context: ParamContext): Browse {
  if (!context.hasBrowseExtensions) return {};
  const limit = readCount(params, 'limit');
  const offset = readCount(params, 'offset');
  const search = first(params, 'search') || first(params, 'q');
  return {
    ...(limit === undefined ? {} : { limit }),
    ...(offset === undefined ? {} : { offset }),
    ...(search === '' ? {} : { search }),
  };
}

/** Maximum number of values of a browse that the index answers (docs/protocol/requests.md#browsing-label-values). */
const maxBrowsed = 10_000;

/** With the index, every browse has a limit. */
function ofIndex(browse: Browse, { hotLimit }: ParamContext): Browse {
  if (hotLimit === undefined) return browse;
  return { ...browse, limit: Math.min(browse.limit ?? hotLimit, maxBrowsed) };
}

/** Parses a non-negative count; one larger than any listing means no limit. */
function readCount(params: Params, name: string): number | undefined {
  const value = readInt(params, name);
  if (value === undefined) return undefined;
  if (value < 0n) throw apiError('limitNotPositive', {});
  return value > 0xffff_ffffn ? 0xffff_ffff : Number(value);
}

/**
 * Rejects a log query that requests more entries than its tenant may get; 0 means no limit. Called by the stage that knows the tenant and
 * that the query selects logs.
 */
export function checkEntriesLimit(request: { readonly limit: number }, maxEntries: number): void {
  if (maxEntries > 0 && request.limit > maxEntries)
    throw apiError('tooManyEntries', { limit: request.limit, max: maxEntries });
}

const maxDelaySeconds = 5n;
const maxUint32 = 4_294_967_295n;

/** Reads the parameters of a tail in Loki's order; `end` is validated and then ignored because a tail has no end. */
export function parseTail(params: Params, context: ParamContext, follow: FollowRules): TailRequest {
  const query = new Query(first(params, 'query'), context.dottedNames);
  const limit = readLimit(params, 'limit', context.defaultLimit);
  const { startNs } = readTimeRange(params, context, hourNs);
  const delayNs = readDelay(params);
  return { op: 'tail', query, limit, range: { startNs, endNs: context.nowNs }, delayNs, follow };
}

/** Reads `delay_for`, in whole seconds. */
function readDelay(params: Params): bigint {
  const seconds = readInt(params, 'delay_for') ?? 0n;
  if (seconds < 0n || seconds > maxUint32) throw apiError('delayOutOfRange', { value: String(seconds) });
  if (seconds > maxDelaySeconds) throw apiError('delayTooLong', { max: String(maxDelaySeconds) });
  return seconds * nanosPerSecond;
}
