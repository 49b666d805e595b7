import type { ApiRequest } from '../wire/api/request.js';
import type { Answer } from '../wire/answer/types.js';

/** The options that decide how long an answer is kept; milliseconds. */
export interface TtlRules {
  /** For query and query_range. */
  readonly queryTtl: number;
  /** For labels and label values; 0 means the built-in 5 minutes. */
  readonly labelsCacheTtl: number;
  readonly recentTailRefreshEnabled: boolean;
  readonly recentTailRefreshWindow: number;
  readonly recentTailRefreshMaxStaleness: number;
  /** How near to now a label or series request counts as recent; 0 switches that off. */
  readonly maxMetadataCacheFreshness: number;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const builtInLabelsTtlMs = 5 * minuteMs;
const seriesTtlMs = 30_000;
/** Index statistics, volumes and shards. */
const indexStatsTtlMs = 10_000;
/** Fields and labels that were detected, for windows of up to an hour. */
const detectedTtlMs = 90_000;
/** Patterns of the past stay as they are: a hundred years. */
const patternsTtlMs = 100 * 365 * 24 * hourMs;
/** max(30s, -disk-cache-min-ttl, -peer-write-through-min-ttl), and both are 30s without disk and peers. */
const emptyListingTtlMs = 30_000;

/** Longer label windows change less: factors by window (docs/protocol/operation.md#cache-times). */
const windowFactors: readonly (readonly [windowMs: number, factor: number])[] = [
  [hourMs, 1],
  [6 * hourMs, 3],
  [24 * hourMs, 10],
];
const longWindowFactor = 20;

/**
 * How long an answer may be served again, in milliseconds; 0 when it may not be kept at all. An answer that reaches into the recent
 * past is kept for the allowed staleness only, however old the window is when it is asked for again: lines may still have been on
 * their way when it was made.
 */
export function ttlMs(request: ApiRequest, answer: Answer, nowMs: number, rules: TtlRules): number {
  if (!isComplete(answer)) return 0;
  const base = baseTtlMs(request, answer, rules);
  return isRecent(request, nowMs, rules) ? Math.min(base, rules.recentTailRefreshMaxStaleness) : base;
}

/** Partial answers carry a warning; encoded ones are somebody else's. */
function isComplete(answer: Answer): boolean {
  return answer.kind !== 'encoded' && (!('warnings' in answer) || answer.warnings.length === 0);
}

function baseTtlMs(request: ApiRequest, answer: Answer, rules: TtlRules): number {
  switch (request.op) {
    case 'query_range':
    case 'query':
      return rules.queryTtl;
    case 'labels':
    case 'label_values':
      if (answer.kind === 'names' && answer.values.length === 0) return emptyListingTtlMs;
      return labelsTtlMs(spanMs(request.range.startNs, request.range.endNs), rules.labelsCacheTtl);
    case 'series':
      return seriesTtlMs;
    case 'index_stats':
    case 'volume':
    case 'volume_range':
    case 'index_shards':
      return indexStatsTtlMs;
    case 'detected_labels':
    case 'detected_fields':
    case 'detected_field_values':
      return scaledTtlMs(spanMs(request.range.startNs, request.range.endNs), detectedTtlMs);
    case 'patterns':
      return answer.kind === 'patterns' && answer.patterns.length === 0 ? emptyListingTtlMs : patternsTtlMs;
    case 'format_query':
    case 'tail':
    case 'delete':
    case 'tenant':
      return 0;
  }
}

function labelsTtlMs(windowMs: number, configuredMs: number): number {
  return scaledTtlMs(windowMs, configuredMs === 0 ? builtInLabelsTtlMs : configuredMs);
}

function scaledTtlMs(windowMs: number, baseMs: number): number {
  const factor = windowFactors.find(([limitMs]) => windowMs <= limitMs)?.[1] ?? longWindowFactor;
  return Math.min(baseMs * factor, Math.max(hourMs, baseMs));
}

function isRecent(request: ApiRequest, nowMs: number, rules: TtlRules): boolean {
  // What is kept for good must be of the past.
  if (request.op === 'patterns') return endsWithin(request.range.endNs, nowMs, rules.recentTailRefreshWindow);
  if (!rules.recentTailRefreshEnabled) return false;
  switch (request.op) {
    case 'query_range':
      return endsWithin(request.range.endNs, nowMs, rules.recentTailRefreshWindow);
    case 'query':
      return endsWithin(request.timeNs, nowMs, rules.recentTailRefreshWindow);
    case 'labels':
    case 'label_values':
    case 'series':
      return (
        rules.maxMetadataCacheFreshness > 0 &&
        endsWithin(request.range.endNs, nowMs, rules.maxMetadataCacheFreshness)
      );
    case 'index_stats':
    case 'volume':
    case 'volume_range':
    case 'index_shards':
    case 'detected_labels':
    case 'detected_fields':
    case 'detected_field_values':
    case 'format_query':
    case 'tail':
    case 'delete':
    case 'tenant':
      return false;
  }
}

function endsWithin(endNs: bigint, nowMs: number, windowMs: number): boolean {
  return Number(endNs / 1_000_000n) >= nowMs - windowMs;
}

function spanMs(startNs: bigint, endNs: bigint): number {
  return Number((endNs - startNs) / 1_000_000n);
}
