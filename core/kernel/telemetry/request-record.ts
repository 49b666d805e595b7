import { Trace } from '../../base/trace.js';
import type { Caller } from '../../base/caller.js';

/** Everything the request log and the request metrics know of one HTTP request; filled on its way. */
export class RequestRecord {
  readonly trace = new Trace();
  /** Normalized route and its id; `unknown` for paths that no plugin serves, so that strangers add no metric series. */
  route = 'unknown';
  requestType = 'unknown';
  /** The query text of the client, where the route takes one. */
  query: string | undefined;
  /** What went wrong, cause included; goes to the log only. */
  error: unknown;
  /** Set for log answers: whether entries were pairs or triples. */
  tupleMode: 'default_2tuple' | 'categorize_labels_3tuple' | undefined;
  responseBytes = 0;

  constructor(
    readonly id: string,
    readonly method: string,
    readonly path: string,
    readonly caller: Caller,
    /** Monotonic milliseconds. */
    readonly startedMs: number,
  ) {}
}

/** Who is told of HTTP requests: the request log and the request metrics. */
export interface RequestObserver {
  started(record: RequestRecord): void;
  finished(record: RequestRecord, status: number, durationMs: number): void;
}
