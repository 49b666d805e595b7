import type { TimeRange } from '../../base/time/range.js';
import type { LogsqlFilter, LogsqlQuery } from '../logsql/ast.js';

/** One row as VictoriaLogs sends it: every value a string, missing and empty the same. Read with `Object.hasOwn` or entries. */
export type BackendRow = Readonly<Record<string, string>>;

/** A name or value of a listing with its row count (inexact for field_names: docs/protocol/victorialogs.md#hits-and-listings). */
export interface BackendValue {
  readonly value: string;
  readonly hits: number;
}

/** One group of a stats query: its labels (empty ones left out) and the value text as sent. */
export interface BackendSample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly timestampSeconds: number;
  readonly value: string;
}

export interface RowsRequest {
  readonly query: LogsqlQuery;
  readonly range: TimeRange;
  /** HTTP `limit`: the newest N rows, newest first. */
  readonly newest?: number;
}

export type Listing =
  'stream_field_names' | 'stream_field_values' | 'streams' | 'field_names' | 'field_values';

export interface ListingRequest {
  readonly listing: Listing;
  readonly query: LogsqlQuery;
  readonly range: TimeRange;
  /** The field, for the two `*_values` listings. */
  readonly field?: string;
}

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

export interface StatsRequest {
  readonly query: LogsqlQuery;
  readonly range: TimeRange;
}

/** Rows as they come in, from the backend's own tail (docs/protocol/victorialogs.md#backend-tail). */
export interface TailRowsRequest {
  readonly query: LogsqlQuery;
  /** Rows are sent when they are this old. */
  readonly offsetNs: bigint;
  /** How far before now the tail begins, in milliseconds. */
  readonly startOffsetMs: number;
  /** Milliseconds between two looks of the backend for new rows. */
  readonly refreshMs: number;
  /** Milliseconds that the backend has to begin; after that the tail has no bound. */
  readonly openTimeoutMs: number;
}

export interface DeletionRequest {
  readonly filter: LogsqlFilter;
  readonly range: TimeRange;
}
/** A deletion that was not asked for yet. */
export interface Deletion {
  /** The whole filter as the backend gets it: time, tenant and rows. */
  readonly logsql: string;
  /** Asks the backend; resolves when it has taken the task, which then runs in the background. */
  run(): Promise<DeletionTaken>;
}
export interface DeletionTaken {
  /** Undefined where the backend deletes without tasks. */
  readonly taskId: string | undefined;
}

/**
 * The backend as one exchange sees it: bound to its tenant, its caller's forwarded credentials, its signal, the breaker and the
 * gates. Calls start when they are asked for; row batches are pulled, so a reader that stops reading stops the backend.
 * Errors are ApiError with the statuses of docs/protocol/errors-and-limits.md#error-body.
 */
export interface Upstream {
  rows(request: RowsRequest): AsyncIterable<readonly BackendRow[]>;
  list(request: ListingRequest): Promise<readonly BackendValue[]>;
  stats(request: StatsRequest): Promise<readonly BackendSample[]>;
  statsRange(request: StatsRangeRequest): Promise<readonly BackendSeries[]>;
  /** Resolves when the backend has begun; the rows end with the exchange's signal, or with an error. */
  tail(request: TailRowsRequest): Promise<AsyncIterable<readonly BackendRow[]>>;
  deletion(request: DeletionRequest): Deletion;
  /**
   * Takes a place among heavy queries when all rows of such a range are one: reads of its parts then need none. What comes back
   * gives the place back. Left out where there are no gates.
   */
  hold?(range: TimeRange): Promise<() => void>;
  /** The same backend for calls that are given up when this signal ends. Left out where calls cannot be given up one by one. */
  until?(signal: AbortSignal): Upstream;
}
