import type { TimeRange } from '../../base/time/range.js';
import type { Answer } from '../../wire/answer/types.js';
import type { TtlRules } from '../descriptor.js';

interface Ranged {
  readonly range: TimeRange;
}

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

export function namesTtl({ range }: Ranged, answer: Answer, rules: TtlRules): number {
  const { labelsCacheTtl, diskCacheMinTtl, peerWriteThroughMinTtl } = rules;
  if (answer.kind === 'names' && answer.values.length === 0)
    return Math.max(emptyListingTtlMs, diskCacheMinTtl, peerWriteThroughMinTtl);
  return scaledTtlMs(range, labelsCacheTtl === 0 ? builtInLabelsTtlMs : labelsCacheTtl);
}

export function seriesTtl(): number {
  return seriesTtlMs;
}

export function indexTtl(): number {
  return indexTtlMs;
}

export function detectedTtl({ range }: Ranged): number {
  return scaledTtlMs(range, detectedTtlMs);
}

export function patternsTtl(_request: object, answer: Answer): number {
  return answer.kind === 'patterns' && answer.patterns.length === 0 ? emptyListingTtlMs : patternsTtlMs;
}

function scaledTtlMs({ startNs, endNs }: TimeRange, baseMs: number): number {
  const windowMs = Number((endNs - startNs) / 1_000_000n);
  const factor = windowFactors.find(([limitMs]) => windowMs <= limitMs)?.[1] ?? longWindowFactor;
  return Math.min(baseMs * factor, Math.max(hourMs, baseMs));
}

export function neverRecent(): boolean {
  return false;
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
export function isRecentListing({ range }: Ranged, nowMs: number, rules: TtlRules): boolean {
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
