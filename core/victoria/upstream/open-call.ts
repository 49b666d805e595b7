import type { CallTag, OpenSpan, Trace } from '../../base/trace.js';
import type { Waits } from '../../base/waits.js';

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
