import type { CallTag, OpenSpan, Trace } from '../../base/trace.js';
import type { Waits } from '../../base/waits.js';

/** Amounts that a call has received so far. */
export interface CallCount {
  readonly rows: number;
  readonly bytes: number;
  /** Of the answer; 0 when there was none. */
  readonly status: number;
}

/** A call that has begun. */
export interface OpenCall {
  readonly type: string;
  /** Headers that carry the backend's trace context. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** Notes the call in the trace of its request. */
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

/** Calls are named by the name of a query endpoint, `streams`, or by a path, `/delete/run_task`. */
export function isPath(type: string): boolean {
  return type.startsWith('/');
}

export function pathOf(type: string): string {
  return isPath(type) ? type : `/select/logsql/${type}`;
}
