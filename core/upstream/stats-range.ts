import type { TimeRange } from '../api/request.js';
import type { LogsqlQuery } from '../logsql/ast.js';
import type { Steps } from '../pace/steps.js';
import { asArray, asMetric, asPoint, decodeResult, member } from './decode.js';

export interface StatsRangeRequest {
  readonly query: LogsqlQuery;
  /** The backend widens it to whole buckets. */
  readonly range: TimeRange;
  readonly stepNs: bigint;
  /** Buckets begin at multiples of the step plus this, in nanoseconds: at 1, a bucket holds its end and not its begin. */
  readonly shiftNs: bigint;
}

/** One group of a stats query over buckets: its labels (empty ones left out) and the value texts as sent; buckets without rows are left out. */
export interface BackendSeries {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  /** Begin of the bucket in seconds, to the millisecond, and its value. */
  readonly points: readonly (readonly [seconds: number, value: string])[];
}

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

/** Reads the answer of stats_query_range. */
export function decodeStatsRange(text: string): Steps<readonly BackendSeries[]> {
  return decodeResult(text, 'matrix', (each) => ({
    ...asMetric(member(each, 'metric')),
    points: asArray(member(each, 'values'), 'values').map(asPoint),
  }));
}
