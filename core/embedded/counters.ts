/** What a running backend has done so far; the answer of `stats()` and of `GET /-/stats`. */
export interface BackendStats {
  /** Requests by path. */
  readonly calls: Readonly<Record<string, number>>;
  /** Stored rows handed to a query's filter. */
  readonly rowsRead: number;
  readonly bytesSent: number;
  readonly queriesInFlight: number;
  /** Queries that ended because the client went away. */
  readonly abortedQueries: number;
  readonly rowsStored: number;
  readonly rowsIngested: number;
  readonly rowsDropped: number;
  readonly streams: number;
  /** Estimated bytes held, and their limit. */
  readonly bytesStored: number;
  readonly maxBytes: number;
}

/** Mutable counters behind `BackendStats`. */
export class Counters {
  readonly calls = new Map<string, number>();
  rowsRead = 0;
  bytesSent = 0;
  queriesInFlight = 0;
  abortedQueries = 0;
  rowsDropped = 0;
  errors = 0;

  countCall(path: string): void {
    // Unknown paths come from strangers; a bound keeps them from filling memory.
    if (!this.calls.has(path) && this.calls.size >= 200) path = 'other';
    this.calls.set(path, (this.calls.get(path) ?? 0) + 1);
  }
}
