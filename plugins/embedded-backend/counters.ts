/** Counters of a running backend; returned by `stats()` and by `GET /-/stats`. */
export interface BackendStats {
  /** Number of requests by path. */
  readonly calls: Readonly<Record<string, number>>;
  /** Number of stored rows passed to a query's filter. */
  readonly rowsRead: number;
  readonly bytesSent: number;
  readonly queriesInFlight: number;
  /** Number of queries that ended because the client left. */
  readonly abortedQueries: number;
  readonly rowsStored: number;
  readonly rowsIngested: number;
  readonly rowsDropped: number;
  readonly streams: number;
  /** Estimated number of bytes stored, and their limit. */
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
    // Clients choose the paths, so the number of counted paths is bounded.
    if (!this.calls.has(path) && this.calls.size >= 200) path = 'other';
    this.calls.set(path, (this.calls.get(path) ?? 0) + 1);
  }
}
