import type { Steps } from '../../base/pace/steps.js';
import type { LogsqlFilter, LogsqlQuery } from '../logsql/ast.js';
import { and, union } from '../logsql/build.js';
import { printFilter, printQuery } from '../logsql/print.js';
import { clampTime, formatTime } from '../logsql/time.js';
import { expectArray, asMetric, asPoint, decodeResult, member } from './decode.js';
import type { BackendSeries, StatsRangeRequest } from './types.js';

/** Maximum length of `query` that VictoriaLogs accepts by default (`-search.maxQueryLen`), in bytes. */
const maxQueryBytes = 16_384;

/**
 * A query as call parameters. If the filter makes the query too long, it is sent separately as `extra_filters`, whose length is not
 * limited: Grafana writes out every value of a variable, and `service_name` is matched against every label it may come from. It then also
 * applies to the queries of `union`, which have the same filter and others.
 */
export function queryParameters(query: LogsqlQuery): readonly (readonly [string, string])[] {
  const text = printQuery(query);
  if (Buffer.byteLength(text) <= maxQueryBytes) return [['query', text]];
  return [
    ['query', printQuery(without(query, query.filter))],
    // In parentheses, because a text that starts with {" would be parsed as JSON.
    ['extra_filters', `(${printFilter(query.filter)})`],
  ];
}

/** The query without a filter that all its rows pass anyway. */
function without(query: LogsqlQuery, filter: LogsqlFilter): LogsqlQuery {
  const parts = new Set(partsOf(filter));
  const others = partsOf(query.filter).filter((part) => !parts.delete(part));
  return {
    ...query,
    filter: parts.size === 0 ? and(...others) : query.filter,
    pipes: query.pipes.map((pipe) => (pipe.kind === 'union' ? union(without(pipe.query, filter)) : pipe)),
  };
}

function partsOf(filter: LogsqlFilter): readonly LogsqlFilter[] {
  return filter.kind === 'and' ? filter.parts : [filter];
}

// The backend guesses the unit of a bare number from its size; smaller numbers would not be read as nanoseconds.
const firstPlainNs = 10n ** 18n;

/**
 * Formats a time for the backend; the only function that does. Computed times, such as the end of a window, may be outside the range of the
 * backend's 64-bit clock, unlike the times of rows.
 */
export function timeText(ns: bigint): string {
  const known = clampTime(ns);
  return known >= firstPlainNs ? known.toString() : formatTime(known, 9);
}

/** The parameters of a stats_query_range call in addition to query, start and end. */
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
    points: expectArray(member(each, 'values'), 'values').map(asPoint),
  }));
}
