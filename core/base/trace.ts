/** A started span of a distributed trace, in OpenTelemetry's sense. An unsampled request has spans too, only for their headers. */
export interface OpenSpan {
  /** `traceparent` and `tracestate`, for requests sent on its behalf. */
  readonly headers: Readonly<Record<string, string>>;
  /** Starts a child span. */
  child(name: string, isCall?: boolean): OpenSpan;
  /** @param error the failure; undefined on success */
  end(attributes: SpanAttributes, error?: unknown): void;
}

export type SpanAttributes = Readonly<Record<string, string | number | undefined>>;

/** Costs of one request, shared by all exchanges derived from it. Stages write it; the request log and metrics read it. */
export class Trace {
  /** The best result of any cache for this request; undefined if no cache was used (logged as bypass). */
  cacheResult: 'hit' | 'miss' | undefined;
  tenantId: string | undefined;
  /** The span of the request itself; undefined without tracing. */
  span: OpenSpan | undefined;
  /** Backend calls of this request, in the order they finished. */
  readonly upstreamCalls: UpstreamCall[] = [];
  readonly operations: OperationRecord[] = [];
  /** Attempts to read the leaves of a metric query, in the order in which they ended. */
  readonly strategies: StrategyRecord[] = [];
  /** True once the request has been logged, which for a tail is long before its end: later data is not collected. */
  isWritten = false;

  /** Counts a cache hit or miss; one hit makes the request a hit. */
  cache(result: 'hit' | 'miss'): void {
    if (this.cacheResult !== 'hit') this.cacheResult = result;
  }
}

/** One call to the backend. */
export interface UpstreamCall {
  /** For example `/select/logsql/query`. */
  readonly path: string;
  /** The last part of its path, such as `query` or `streams`. */
  readonly type: string;
  /** The strategy that made the call; undefined for other calls. */
  readonly strategy?: string;
  /** HTTP status, or 0 without a response. */
  readonly status: number;
  readonly durationMs: number;
  readonly rows: number;
  readonly bytes: number;
}

/** The attempt that calls belong to, and the totals of its calls so far. */
export interface CallTag {
  readonly strategy: string;
  calls: number;
  /** Rows, groups, and names in listings that the backend sent. */
  rows: number;
  bytes: number;
}

/** The estimated cost of reading a leaf. Unknown figures are undefined. */
export interface Cost {
  /** Backend calls. */
  readonly calls: number;
  /** Rows that the backend reads. */
  readonly scannedRows: number | undefined;
  /** True if the backend parses the lines of these rows, for labels of `| json`. */
  readonly splitsLines: boolean;
  /** The backend sends either rows, or groups with a number or values each. */
  readonly sends: 'groups' | 'rows';
  readonly sentRows: number | undefined;
  readonly sentBytes: number | undefined;
  /** Rows that must be inspected before they can be counted. */
  readonly proofRows: number | undefined;
}

/** One attempt of a strategy to read a leaf, which is one range aggregation of a metric query. */
export interface StrategyRecord {
  /** Index of the leaf in its query, from 0. */
  readonly leaf: number;
  readonly strategy: string;
  /** `ran`, `failed` if its error ended the query, or the reason why the next strategy was tried. */
  readonly outcome: string;
  readonly durationMs: number;
  /** Undefined for a strategy that was ruled out before it called the backend. */
  readonly estimate?: Cost | undefined;
  /** The totals of its calls. */
  readonly took?: Readonly<Omit<CallTag, 'strategy'>> | undefined;
  /** Strategies that would have been tried next. */
  readonly others?: readonly { readonly strategy: string; readonly estimate: Cost }[] | undefined;
}

/** An internal operation such as `translate` with its outcome (metrics `internal_operation_*`). */
export interface OperationRecord {
  readonly operation: string;
  readonly outcome: string;
  readonly durationMs: number;
}
