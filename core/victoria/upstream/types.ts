import type { TimeRange } from '../../base/time/range.js';
import type { CallTag } from '../../base/trace.js';
import type { LogsqlFilter, LogsqlQuery } from '../logsql/ast.js';
import type { AdmittedCall } from './client.js';

/**
 * One row as VictoriaLogs sends it: every value is a string, and missing and empty mean the same. Only these columns can be read as
 * properties; others have names from strangers, such as `constructor`, and are read with `columnOf`.
 */
export interface BackendRow {
  readonly _time?: string;
  readonly _msg?: string;
  readonly _stream?: string;
  readonly _stream_id?: string;
}

/** The value of a column with any name. */
export function columnOf(row: BackendRow, name: string): string | undefined {
  return Object.hasOwn(row, name) ? (row as Readonly<Record<string, string>>)[name] : undefined;
}

/** All columns of a row, to read those that `in` lists: rows have only own properties. V8 reads them faster in the loop itself. */
export function columnsOf(row: BackendRow): Readonly<Record<string, string>> {
  return row as Readonly<Record<string, string>>;
}

/** True if every row has the column, so that it is not a client's field. */
export function isOwnColumn(name: string): boolean {
  return name === '_msg' || name === '_time' || name === '_stream' || name === '_stream_id';
}

/** A name or value of a listing with its row count (inexact for field_names: docs/protocol/victorialogs.md#hits-and-listings). */
export interface BackendValue {
  readonly value: string;
  readonly hits: number;
}

/** One group of a stats query: its labels (empty ones dropped) and the value as sent. */
export interface BackendSample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly value: string;
}

export interface RowsRequest {
  readonly query: LogsqlQuery;
  readonly range: TimeRange;
  /** HTTP `limit`: the newest N rows, newest first. */
  readonly newest?: number;
  readonly isPreflight?: Preflight;
  /** Total length of the time for which rows are read, if the query leaves out parts of the range. */
  readonly lengthNs?: bigint;
}

/**
 * Set for a count of rows that is only used to plan a read. It reads no line, so it is never a heavy query, and its caller can do without
 * it.
 */
export type Preflight = true;

/** Rows that were read elsewhere: their number, and their bytes as received. */
export interface RowsElsewhere {
  readonly length: number;
  readonly bytes: number;
}

/**
 * Makes a call and reads its rows elsewhere, such as in another thread. The first part comes with the head of the answer.
 * @throws ApiError as a call that is made here
 */
export type RowsReader = (admitted: AdmittedCall) => AsyncIterable<RowsElsewhere>;

export type Listing =
  'stream_field_names' | 'stream_field_values' | 'streams' | 'field_names' | 'field_values';

export interface ListingRequest {
  readonly listing: Listing;
  readonly query: LogsqlQuery;
  readonly range: TimeRange;
  /** The field, for the two `*_values` listings. */
  readonly field?: string;
  /** `any` if only the values are used: their row counts may then be inexact. */
  readonly hits?: 'any';
}

/** The streams of a filter's rows, and the names of their fields. */
export interface StreamsAndNames {
  readonly streams: readonly BackendValue[];
  readonly names: readonly BackendValue[];
}

/** The parameters of a listing, independent of time. */
export type ListingQuestion = Omit<ListingRequest, 'range' | 'hits'>;

export interface StatsRangeRequest {
  readonly query: LogsqlQuery;
  /** The backend extends it to whole buckets. */
  readonly range: TimeRange;
  readonly stepNs: bigint;
  /** Buckets start at multiples of the step plus this many nanoseconds; with 1, a bucket includes its end instead of its start. */
  readonly shiftNs: bigint;
}

/** One group of a stats query over buckets: its labels (empty ones dropped) and the values as sent; buckets without rows are omitted. */
export interface BackendSeries {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  /** Start of the bucket in seconds, with millisecond precision, and its value. */
  readonly points: readonly (readonly [seconds: number, value: string])[];
}

export interface StatsRequest {
  readonly query: LogsqlQuery;
  readonly range: TimeRange;
  readonly isPreflight?: Preflight;
}

/** Rows as they arrive, from the backend's own tail (docs/protocol/victorialogs.md#backend-tail). */
export interface TailRowsRequest {
  readonly query: LogsqlQuery;
  /** Age at which rows are sent. */
  readonly offsetNs: bigint;
  /** Distance of the tail's start from now, in milliseconds. */
  readonly startOffsetMs: number;
  /** Milliseconds between the backend's polls for new rows. */
  readonly refreshMs: number;
  /** Timeout for the start of the tail in milliseconds; after that there is none. */
  readonly openTimeoutMs: number;
}

export interface DeletionRequest {
  readonly filter: LogsqlFilter;
  readonly range: TimeRange;
}
/** A deletion that has not been sent yet. */
export interface Deletion {
  /** The complete filter sent to the backend: time, tenant and rows. */
  readonly logsql: string;
  /** Sends it; resolves when the backend has accepted the task, which then runs in the background. */
  run(): Promise<DeletionTaken>;
}
export interface DeletionTaken {
  /** Undefined if the backend deletes without tasks. */
  readonly taskId: string | undefined;
}

/**
 * The backend for one exchange, bound to its tenant, its caller's forwarded credentials, its signal, the breaker and the gates. A call
 * starts when its method is called. Row batches are pulled, so a reader that stops reading stops the backend. Errors are ApiError with the
 * statuses of docs/protocol/errors-and-limits.md#error-body.
 */
export interface Upstream {
  /**
   * The owner of the rows: the tenant and the forwarded credentials. Upstreams with equal owners return the same rows, so facts learned
   * from one are stored under this key.
   */
  readonly owner: string;
  /** True if several united queries are a single call; if missing, each is a call of its own. */
  readonly unites?: boolean | undefined;
  rows(request: RowsRequest): AsyncIterable<readonly BackendRow[]>;
  /**
   * Lets another reader, such as a thread, read the rows of a request. Undefined if no single call of one backend returns these rows;
   * missing if there are no calls.
   */
  readonly rowsBy?:
    ((request: RowsRequest, read: RowsReader) => AsyncIterable<RowsElsewhere> | undefined) | undefined;
  list(request: ListingRequest): Promise<readonly BackendValue[]>;
  /** Lists both in one call. Missing if that costs more than two listings. */
  readonly listBoth?: ((request: Omit<ListingRequest, 'listing'>) => Promise<StreamsAndNames>) | undefined;
  stats(request: StatsRequest): Promise<readonly BackendSample[]>;
  statsRange(request: StatsRangeRequest): Promise<readonly BackendSeries[]>;
  /** Resolves when the backend has started; the rows end with the exchange's signal or with an error. */
  tail(request: TailRowsRequest): Promise<AsyncIterable<readonly BackendRow[]>>;
  deletion(request: DeletionRequest): Deletion;
  /** The ids of the deletions that the backend has not finished. Missing if they are unknown. */
  readonly activeDeletions?: (() => Promise<readonly string[]>) | undefined;
  /**
   * Shares one heavy-query permit among all heavy calls about a range and its parts, until the returned function is called. Undefined
   * without gates.
   */
  readonly hold?: ((range: TimeRange) => () => void) | undefined;
  /** The same backend with calls that end at this signal. Undefined if single calls cannot be cancelled. */
  readonly until?: ((signal: AbortSignal) => Upstream) | undefined;
  /** The same backend for calls that the trace attributes to an attempt. Missing if calls are not traced. */
  readonly taggedWith?: ((tag: CallTag) => Upstream) | undefined;
}
