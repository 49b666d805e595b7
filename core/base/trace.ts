/** What one request cost and where, shared by all exchanges derived from it. Written by stages, read by the request log and metrics. */
export class Trace {
  /** The best result any cache gave this request; undefined when none was asked (logged as bypass). */
  cacheResult: 'hit' | 'miss' | undefined;
  tenantId: string | undefined;
  /** Backend calls of this request, in the order they ended. */
  readonly upstreamCalls: UpstreamCall[] = [];
  readonly operations: OperationRecord[] = [];
  /** True when the request's record is written, as a tail's is long before its end: what comes after is not collected. */
  isWritten = false;

  /** Counts a hit or miss; a hit anywhere makes the request's result a hit. */
  cache(result: 'hit' | 'miss'): void {
    if (this.cacheResult !== 'hit') this.cacheResult = result;
  }
}

/** One call to the backend; `type` is the last part of its path, such as `query` or `streams`. */
export interface UpstreamCall {
  readonly type: string;
  /** HTTP status, or 0 when there was no answer. */
  readonly status: number;
  readonly durationMs: number;
  readonly rows: number;
  readonly bytes: number;
}

/** An internal operation such as `translate` with its outcome (metrics `internal_operation_*`). */
export interface OperationRecord {
  readonly operation: string;
  readonly outcome: string;
  readonly durationMs: number;
}
