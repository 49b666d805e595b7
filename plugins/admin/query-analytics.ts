import { createHash } from 'node:crypto';
import type { RequestObserver, RequestRecord } from '../../core/plugin/index.js';

/**
 * Statistics of one query text on one endpoint, with the field names of the answer (docs/protocol/operation.md#listeners-and-admin-routes).
 */
export interface QueryFigures {
  readonly fingerprint: string;
  readonly query: string;
  readonly endpoint: string;
  readonly count: number;
  readonly total_ms: number;
  readonly max_ms: number;
  /** Unix milliseconds. */
  readonly last_seen: number;
  readonly errors: number;
}
export interface QueryReport {
  readonly total_queries: number;
  readonly unique_queries: number;
  readonly top_by_frequency: readonly QueryFigures[];
  readonly top_by_latency: readonly QueryFigures[];
  readonly top_by_errors: readonly QueryFigures[];
}

/** The most queries tracked at once; the one not seen for the longest time is dropped. */
const maxTracked = 10_000;
const listLength = 20;
/** Longer texts are cut when shown; their fingerprints still distinguish them. */
const maxShownLength = 1024;

/** Counts the queries of all clients, in bounded memory. */
export class QueryAnalytics implements RequestObserver {
  readonly #nowMs: () => number;
  /** By fingerprint, most recently seen last. */
  readonly #tracked = new Map<string, QueryFigures>();
  #total = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  started(): void {
    // A query counts once it has been answered.
  }

  finished({ query, requestType: endpoint }: RequestRecord, status: number, durationMs: number): void {
    if (query === undefined || query === '') return;
    this.#total += 1;
    const fingerprint = createHash('sha256').update(`${endpoint}\n${query}`).digest('hex').slice(0, 16);
    const known = this.#tracked.get(fingerprint);
    this.#tracked.delete(fingerprint);
    if (this.#tracked.size >= maxTracked) {
      const [oldest] = this.#tracked.keys();
      if (oldest !== undefined) this.#tracked.delete(oldest);
    }
    this.#tracked.set(fingerprint, {
      fingerprint,
      query: known?.query ?? shown(query),
      endpoint,
      count: (known?.count ?? 0) + 1,
      total_ms: (known?.total_ms ?? 0) + durationMs,
      max_ms: Math.max(known?.max_ms ?? 0, durationMs),
      last_seen: this.#nowMs(),
      errors: (known?.errors ?? 0) + (status >= 400 ? 1 : 0),
    });
  }

  report(): QueryReport {
    const all = [...this.#tracked.values()];
    const top = (figure: (one: QueryFigures) => number): readonly QueryFigures[] =>
      [...all]
        .sort((a, b) => figure(b) - figure(a))
        .slice(0, listLength)
        .map(rounded);
    return {
      total_queries: this.#total,
      unique_queries: all.length,
      top_by_frequency: top(({ count }) => count),
      top_by_latency: top(({ max_ms }) => max_ms),
      top_by_errors: top(({ errors }) => errors).filter(({ errors }) => errors > 0),
    };
  }
}

function shown(query: string): string {
  if (query.length <= maxShownLength) return query;
  // Copied, because a slice would keep the long text alive.
  return Buffer.from(`${query.slice(0, maxShownLength)}...`).toString('utf8');
}

function rounded(figures: QueryFigures): QueryFigures {
  return { ...figures, total_ms: roundMs(figures.total_ms), max_ms: roundMs(figures.max_ms) };
}

function roundMs(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
