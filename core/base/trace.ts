/**
 * A span of a distributed trace that has begun, named after what OpenTelemetry calls so. Spans of a request that is not sampled are there
 * too, for the headers alone.
 */
export interface OpenSpan {
  /** `traceparent` and `tracestate`, for whom is asked on its behalf. */
  readonly headers: Readonly<Record<string, string>>;
  /** Begins a span inside of this one. */
  child(name: string, isCall?: boolean): OpenSpan;
  /** @param error what it failed with; undefined when it did not */
  end(attributes: SpanAttributes, error?: unknown): void;
}

export type SpanAttributes = Readonly<Record<string, string | number | undefined>>;

/** What one request cost and where, shared by all exchanges derived from it. Stages write it; the request log and metrics read it. */
export class Trace {
  /** The best result of any cache for this request; undefined when none was asked (logged as bypass). */
  cacheResult: 'hit' | 'miss' | undefined;
  tenantId: string | undefined;
  /** The request itself; undefined without traces. */
  span: OpenSpan | undefined;
  /** Backend calls of this request, in the order they finished. */
  readonly upstreamCalls: UpstreamCall[] = [];
  readonly operations: OperationRecord[] = [];
  /** Attempts to read the leaves of a metric query, in the order in which they ended. */
  readonly strategies: StrategyRecord[] = [];
  /** True once the request's record has been written, which for a tail is long before its end: anything later is not collected. */
  isWritten = false;

  /** Counts a cache hit or miss; one hit makes the request a hit. */
  cache(result: 'hit' | 'miss'): void {
    if (this.cacheResult !== 'hit') this.cacheResult = result;
  }
}

/** One call to the backend. */
export interface UpstreamCall {
  /** Such as `/select/logsql/query`. */
  readonly path: string;
  /** The last part of its path, such as `query` or `streams`. */
  readonly type: string;
  /** The strategy that asked; undefined for calls that belong to none. */
  readonly strategy?: string;
  /** HTTP status, or 0 when there was no answer. */
  readonly status: number;
  readonly durationMs: number;
  readonly rows: number;
  readonly bytes: number;
}

/** The attempt that calls belong to, and what they have taken so far. */
export interface CallTag {
  readonly strategy: string;
  calls: number;
  /** Rows, groups, and names of listings that were sent. */
  rows: number;
  bytes: number;
}

/** The estimated cost of reading a leaf. Figures that are not known yet are undefined. */
export interface Cost {
  /** Calls of the backend. */
  readonly calls: number;
  /** Rows that the backend reads. */
  readonly scannedRows: number | undefined;
  /** True if the backend parses the lines of these rows, for labels of `| json`. */
  readonly splitsLines: boolean;
  /** The backend sends either rows, or groups with a number or values each. */
  readonly sends: 'groups' | 'rows';
  readonly sentRows: number | undefined;
  readonly sentBytes: number | undefined;
  /** Rows that have to be looked at before they can be counted. */
  readonly proofRows: number | undefined;
}

/** One attempt of a strategy to read a leaf, which is one range aggregation of a metric query. */
export interface StrategyRecord {
  /** Place of the leaf in its query, from 0. */
  readonly leaf: number;
  readonly strategy: string;
  /** `ran`, `failed` where its error ended the query, or the reason why it left the leaf to the next strategy. */
  readonly outcome: string;
  readonly durationMs: number;
  /** Undefined for a strategy that was out before it asked anything. */
  readonly estimate?: Cost | undefined;
  /** The totals of its calls. */
  readonly took?: Readonly<Omit<CallTag, 'strategy'>> | undefined;
  /** Strategies that would have been next. */
  readonly others?: readonly { readonly strategy: string; readonly estimate: Cost }[] | undefined;
}

/** An internal operation such as `translate` with its outcome (metrics `internal_operation_*`). */
export interface OperationRecord {
  readonly operation: string;
  readonly outcome: string;
  readonly durationMs: number;
}
