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
/** What one process tracks. */
export interface TrackedQueries {
  readonly total: number;
  readonly queries: readonly QueryFigures[];
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

/** A query in progress of being counted. */
interface Tracked {
  readonly query: string;
  readonly endpoint: string;
  /** Of the whole text, of which only the beginning may be kept. */
  readonly fingerprint: () => string;
  count: number;
  totalMs: number;
  maxMs: number;
  lastSeen: number;
  errors: number;
  /** Whether it was seen since it was last passed over for one to drop. */
  isSeenAgain: boolean;
}

/** Counts the queries of all clients, in bounded memory. */
export class QueryAnalytics implements RequestObserver {
  readonly #nowMs: () => number;
  /** By endpoint and text, or its fingerprint where it is long. */
  readonly #tracked = new Map<string, Tracked>();
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
    const text = `${endpoint}\n${query}`;
    // Most texts are short, and a fingerprint takes longer to make than a fast answer.
    const key = query.length > maxShownLength ? fingerprintOf(text) : text;
    const tracked = this.#tracked.get(key) ?? this.#track(key, endpoint, query);
    tracked.count += 1;
    tracked.totalMs += durationMs;
    tracked.maxMs = Math.max(tracked.maxMs, durationMs);
    tracked.lastSeen = this.#nowMs();
    if (status >= 400) tracked.errors += 1;
    if (tracked.count > 1) tracked.isSeenAgain = true;
  }

  #track(key: string, endpoint: string, query: string): Tracked {
    if (this.#tracked.size >= maxTracked) this.#dropOne();
    const isLong = query.length > maxShownLength;
    const tracked = {
      query: shown(query),
      endpoint,
      fingerprint: () => (isLong ? key : fingerprintOf(key)),
      count: 0,
      totalMs: 0,
      maxMs: 0,
      lastSeen: 0,
      errors: 0,
      isSeenAgain: false,
    };
    this.#tracked.set(key, tracked);
    return tracked;
  }

  /** Drops the one that was tracked first of those not seen again; the others get behind it. */
  #dropOne(): void {
    for (const [key, tracked] of this.#tracked) {
      this.#tracked.delete(key);
      if (!tracked.isSeenAgain) return;
      tracked.isSeenAgain = false;
      this.#tracked.set(key, tracked);
    }
  }

  /** Everything that is tracked. */
  all(): TrackedQueries {
    return { total: this.#total, queries: [...this.#tracked.values()].map(figuresOf) };
  }
}

/** The report of what one or several processes have tracked. */
export function reportOf(tracked: readonly TrackedQueries[]): QueryReport {
  const all = added(tracked.flatMap(({ queries }) => queries));
  const top = (figure: (one: QueryFigures) => number): readonly QueryFigures[] =>
    [...all].sort((a, b) => figure(b) - figure(a)).slice(0, listLength);
  return {
    total_queries: tracked.reduce((sum, { total }) => sum + total, 0),
    unique_queries: all.length,
    top_by_frequency: top(({ count }) => count),
    top_by_latency: top(({ max_ms: maxMs }) => maxMs),
    top_by_errors: top(({ errors }) => errors).filter(({ errors }) => errors > 0),
  };
}

/** Queries of several processes: those with the same fingerprint are one, as it is made from the endpoint and the text. */
function added(queries: readonly QueryFigures[]): readonly QueryFigures[] {
  const byFingerprint = new Map<string, QueryFigures>();
  for (const one of queries) {
    const other = byFingerprint.get(one.fingerprint);
    byFingerprint.set(one.fingerprint, other === undefined ? one : sumOf(other, one));
  }
  return [...byFingerprint.values()];
}

function sumOf(a: QueryFigures, b: QueryFigures): QueryFigures {
  return {
    ...a,
    count: a.count + b.count,
    total_ms: roundMs(a.total_ms + b.total_ms),
    max_ms: Math.max(a.max_ms, b.max_ms),
    last_seen: Math.max(a.last_seen, b.last_seen),
    errors: a.errors + b.errors,
  };
}

function shown(query: string): string {
  if (query.length <= maxShownLength) return query;
  // Copied, because a slice would keep the long text alive.
  return Buffer.from(`${query.slice(0, maxShownLength)}...`).toString('utf8');
}

function fingerprintOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

function figuresOf(tracked: Tracked): QueryFigures {
  const { query, endpoint, count, totalMs, maxMs, lastSeen, errors } = tracked;
  return {
    fingerprint: tracked.fingerprint(),
    query,
    endpoint,
    count,
    total_ms: roundMs(totalMs),
    max_ms: roundMs(maxMs),
    last_seen: lastSeen,
    errors,
  };
}

function roundMs(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
