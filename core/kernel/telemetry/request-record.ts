import { randomUUID, createHash } from 'node:crypto';
import { Trace } from '../../base/trace.js';
import type { Caller } from '../../base/caller.js';

/** Facts about one HTTP request for the request log and the request metrics, filled in while it is handled. */
export class RequestRecord {
  readonly trace = new Trace();
  /** Normalized route and its id; `unknown` for paths that no plugin serves, so that arbitrary paths add no metric series. */
  route = 'unknown';
  requestType = 'unknown';
  /** The client's query text, if the route has one. */
  query: string | undefined;
  /** The error including its cause; only for the log. */
  error: unknown;
  /** Set for log answers: entries as pairs or triples. */
  tupleMode: 'default_2tuple' | 'categorize_labels_3tuple' | undefined;
  responseBytes = 0;

  #id: string | undefined;

  constructor(
    readonly method: string,
    readonly path: string,
    readonly caller: Caller,
    /** Start in monotonic milliseconds. */
    readonly startedMs: number,
  ) {}

  /** Unique for each request. */
  get id(): string {
    return (this.#id ??= randomUUID());
  }
}

/** Observes HTTP requests: the request log and the request metrics. */
export interface RequestObserver {
  started(record: RequestRecord): void;
  finished(record: RequestRecord, status: number, durationMs: number): void;
}

/** A query as logged: a digest and its length, because queries contain names of people and hosts (`-debug-log-raw-queries`). */
export function digestQuery(query: string): string {
  const digest = createHash('sha256').update(query).digest('hex').slice(0, 8);
  return `sha256:${digest}+len=${query.length}`;
}
