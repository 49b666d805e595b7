import type { Waits } from '../../base/time/waits.js';
import type { CallTag, OpenSpan, Trace } from '../../base/trace.js';
import type { LogsqlFilter, LogsqlQuery } from '../logsql/ast.js';
import { and, union } from '../logsql/build.js';
import { clampTime, formatTime } from '../logsql/literals.js';
import { printFilter, printQuery } from '../logsql/print.js';
import type { StatsRangeRequest } from './types.js';

/** Amounts that a call has received so far. */
export interface CallCount {
  readonly rows: number;
  readonly bytes: number;
  /** HTTP status of the answer; 0 if there was none. */
  readonly status: number;
}

/** A call that has started. */
export interface OpenCall {
  readonly type: string;
  /** Headers that carry the trace context for the backend. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** Records the call in the trace of its request. */
  end(failure: unknown): void;
}

interface Noted {
  readonly trace: Trace;
  readonly span?: OpenSpan | undefined;
  readonly tag?: CallTag;
  readonly waits?: Waits;
}

export function beginCall(
  type: string,
  { trace, span: within, tag, waits }: Noted,
  count: CallCount,
): OpenCall {
  const startedAt = performance.now();
  const path = pathOf(type);
  const span = within?.child(`POST ${path}`, true);
  waits?.begin();
  const end = (failure: unknown): void => {
    waits?.end();
    span?.end(
      {
        'url.path': path,
        'http.request.method': 'POST',
        'http.response.status_code': count.status === 0 ? undefined : count.status,
        'ref.rows': count.rows,
        'ref.bytes': count.bytes,
        'ref.strategy': tag?.strategy,
      },
      failure,
    );
    if (tag !== undefined) {
      tag.calls += 1;
      tag.rows += count.rows;
      tag.bytes += count.bytes;
    }
    if (trace.isWritten) return;
    trace.upstreamCalls.push({
      path,
      type: type.slice(type.lastIndexOf('/') + 1),
      ...(tag === undefined ? {} : { strategy: tag.strategy }),
      ...count,
      durationMs: performance.now() - startedAt,
    });
  };
  return { type, headers: span?.headers, end };
}

/** True if a call is named by a path, such as `/delete/run_task`; others have the name of a query endpoint, such as `streams`. */
export function isPath(type: string): boolean {
  return type.startsWith('/');
}

export function pathOf(type: string): string {
  return isPath(type) ? type : `/select/logsql/${type}`;
}

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
