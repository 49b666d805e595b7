import { createHash } from 'node:crypto';
import type { StrategyRecord } from '../../core/base/trace.js';
import { outcomeText } from '../../core/engine/metric/declined.js';
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
  /** Backend calls of all its requests. */
  readonly backend_calls: number;
  readonly backend_rows: number;
  readonly backend_bytes: number;
  /** Strategies of the latest backend read for a metric of it (docs/strategies.md); none for log queries. */
  readonly strategies: readonly TriedStrategy[];
}

/** A way to read a range aggregation, whether it gave the series, and if not why it left them to the next one. */
export interface TriedStrategy {
  readonly strategy: string;
  /** `ran`, `failed`, or the reason. */
  readonly outcome: string;
  /** The outcome in words. */
  readonly text: string;
}

/** The queries that one process tracks. */
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
  readonly top_by_bytes_read: readonly QueryFigures[];
}

/** The most queries tracked at once; the one not seen for the longest time is dropped. */
const maxTracked = 10_000;
const listLength = 20;
/** Longer texts are cut when shown; their fingerprints still distinguish them. */
const maxShownLength = 1024;
/** The most attempts that are kept of a query: it has a few for each of its range aggregations. */
const maxStrategies = 16;

/** Requests of the page about a query that is being written or read: none of these asks for logs. */
const aboutQueries: ReadonlySet<string> = new Set([
  'debug_explain',
  'ui_check',
  'ui_edit',
  'ui_explain',
  'ui_format',
]);

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
  calls: number;
  rows: number;
  bytes: number;
  strategies: readonly StrategyRecord[];
  /** True when it was seen since it was last passed over for one to drop. */
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

  finished({ query, requestType: endpoint, trace }: RequestRecord, status: number, durationMs: number): void {
    if (query === undefined || query === '' || aboutQueries.has(endpoint)) return;
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
    tracked.calls += trace.upstreamCalls.length;
    for (const { rows, bytes } of trace.upstreamCalls) {
      tracked.rows += rows;
      tracked.bytes += bytes;
    }
    // An answer from a cache tells nothing of how it is read.
    if (trace.strategies.length > 0) tracked.strategies = trace.strategies.slice(0, maxStrategies);
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
      calls: 0,
      rows: 0,
      bytes: 0,
      strategies: [],
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
    top_by_bytes_read: top(({ backend_bytes: bytes }) => bytes).filter(
      ({ backend_bytes: bytes }) => bytes > 0,
    ),
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
    backend_calls: a.backend_calls + b.backend_calls,
    backend_rows: a.backend_rows + b.backend_rows,
    backend_bytes: a.backend_bytes + b.backend_bytes,
    strategies: a.last_seen < b.last_seen && b.strategies.length > 0 ? b.strategies : a.strategies,
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
  const { query, endpoint, count, totalMs, maxMs, lastSeen, errors, calls, rows, bytes } = tracked;
  return {
    fingerprint: tracked.fingerprint(),
    query,
    endpoint,
    count,
    total_ms: roundMs(totalMs),
    max_ms: roundMs(maxMs),
    last_seen: lastSeen,
    errors,
    backend_calls: calls,
    backend_rows: rows,
    backend_bytes: bytes,
    strategies: triedIn(tracked.strategies),
  };
}

/** Each attempt once, though several range aggregations may have made it. */
function triedIn(records: readonly StrategyRecord[]): readonly TriedStrategy[] {
  const all = new Map(
    records.map(({ strategy, outcome }) => [
      `${strategy} ${outcome}`,
      { strategy, outcome, text: outcomeText(outcome) },
    ]),
  );
  return [...all.values()];
}

function roundMs(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
