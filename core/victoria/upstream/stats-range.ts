import type { Steps } from '../../base/pace/steps.js';
import type { BackendSeries, StatsRangeRequest } from './types.js';
import { asArray, asMetric, asPoint, decodeResult, member } from './decode.js';

/** The parameters of a stats_query_range call besides query, start and end. */
export function rangeParameters({
  stepNs,
  shiftNs,
}: StatsRangeRequest): readonly (readonly [string, string])[] {
  // The backend subtracts the offset.
  return [
    ['step', `${stepNs}ns`],
    ['offset', `${-shiftNs}ns`],
  ];
}

/** Decodes the answer of stats_query_range. */
export function decodeStatsRange(text: string): Steps<readonly BackendSeries[]> {
  return decodeResult(text, 'matrix', (each) => ({
    ...asMetric(member(each, 'metric')),
    points: asArray(member(each, 'values'), 'values').map(asPoint),
  }));
}
