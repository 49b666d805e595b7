import { createHash } from 'node:crypto';
import type { StrategyRecord } from '../../core/base/trace.js';
import { outcomeText } from '../../core/engine/metric/cost.js';
import { reportRun, type RunReport, type TriedStrategy } from '../../core/engine/plan/explain/run.js';
import type { RequestObserver, RequestRecord } from '../../core/plugin/index.js';
import { routes } from '../../core/wire/routes-table.js';

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
  /** Number of backend calls of all its requests. */
  readonly backend_calls: number;
  readonly backend_rows: number;
  readonly backend_bytes: number;
  /** Attempts at the latest backend read for a metric of it (docs/strategies.md); empty for log queries. */
  readonly strategies: readonly AttemptedStrategy[];
  /** The report of the run of `max_ms`; only kept for the slowest queries. */
  readonly slowest_run?: RunReport;
}

/** A strategy for a range aggregation, with the outcome of the attempt as a code and as text. */
type AttemptedStrategy = Pick<TriedStrategy, 'strategy' | 'outcome' | 'text'>;

export interface TrackedQueries {
  readonly total: number;
  /** Duration of all queries, also of those that are no longer tracked. */
  readonly totalMs: number;
  readonly queries: readonly QueryFigures[];
}

/** Maximum number of tracked queries; the least recently seen one is dropped. */
const maxTracked = 10_000;
const listLength = 20;
/** Maximum length of a shown text; fingerprints still distinguish longer ones. */
const maxShownLength = 1024;
/** Maximum number of attempts kept per query, which has a few for each of its range aggregations. */
const maxStrategies = 16;

/** Maximum number of queries whose slowest run is kept: a report takes about a kilobyte. */
const maxReports = 256;

/** Ids of the routes that are asked about a query, which are no queries of clients. */
const aboutQueries: ReadonlySet<string> = new Set(
  routes.filter(({ isAboutQuery }) => isAboutQuery === true).map(({ id }) => id),
);

/** Figures that a query adds up itself. */
type Counted = Omit<QueryFigures, 'fingerprint' | 'strategies' | 'slowest_run'>;

interface Tracked {
  /** Fingerprint of the whole text, of which only the start may be kept. */
  readonly fingerprint: () => string;
  readonly counted: { -readonly [Name in keyof Counted]: Counted[Name] };
  strategies: readonly StrategyRecord[];
  /** True if it was seen since the last time it was considered for eviction. */
  isSeenAgain: boolean;
}

/** Counts the queries of all clients, in bounded memory. */
export class QueryAnalytics implements RequestObserver {
  readonly #nowMs: () => number;
  /** Queries by endpoint and text, or by fingerprint if the text is long. */
  readonly #tracked = new Map<string, Tracked>();
  /** The slowest runs of the slowest queries. */
  readonly #reports = new Map<Tracked, RunReport>();
  #total = 0;
  #totalMs = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  started(): void {
    // A query is counted when it has been answered.
  }

  finished({ query, requestType: endpoint, trace }: RequestRecord, status: number, durationMs: number): void {
    if (query === undefined || query === '' || aboutQueries.has(endpoint)) return;
    this.#total += 1;
    this.#totalMs += durationMs;
    const text = `${endpoint}\n${query}`;
    // Most texts are short, and computing a fingerprint takes longer than a fast answer.
    const key = query.length > maxShownLength ? fingerprintOf(text) : text;
    const tracked = this.#tracked.get(key) ?? this.#track(key, endpoint, query);
    const { counted } = tracked;
    counted.count += 1;
    counted.total_ms += durationMs;
    if (durationMs >= counted.max_ms) {
      counted.max_ms = durationMs;
      this.#keepReport(tracked, { status, durationMs, trace });
    }
    counted.last_seen = this.#nowMs();
    if (status >= 400) counted.errors += 1;
    counted.backend_calls += trace.upstreamCalls.length;
    for (const { rows, bytes } of trace.upstreamCalls) {
      counted.backend_rows += rows;
      counted.backend_bytes += bytes;
    }
    // An answer from a cache contains no attempts.
    if (trace.strategies.length > 0) tracked.strategies = trace.strategies.slice(0, maxStrategies);
    if (counted.count > 1) tracked.isSeenAgain = true;
  }

  #track(key: string, endpoint: string, query: string): Tracked {
    if (this.#tracked.size >= maxTracked) this.#dropOne();
    const isLong = query.length > maxShownLength;
    const tracked: Tracked = {
      fingerprint: () => (isLong ? key : fingerprintOf(key)),
      counted: {
        ...{ query: shown(query), endpoint, count: 0, total_ms: 0, max_ms: 0, last_seen: 0, errors: 0 },
        ...{ backend_calls: 0, backend_rows: 0, backend_bytes: 0 },
      },
      strategies: [],
      isSeenAgain: false,
    };
    this.#tracked.set(key, tracked);
    return tracked;
  }

  /** Keeps the report of a query's slowest run, if it is among the slowest of all. */
  #keepReport(
    tracked: Tracked,
    { status, durationMs, trace }: Pick<RequestRecord, 'trace'> & Pick<RunReport, 'status' | 'durationMs'>,
  ): void {
    if (!this.#reports.has(tracked) && this.#reports.size >= maxReports) {
      let [fastest] = this.#reports.keys();
      for (const one of this.#reports.keys())
        if (fastest === undefined || one.counted.max_ms < fastest.counted.max_ms) fastest = one;
      if (fastest === undefined || fastest.counted.max_ms >= durationMs) return;
      this.#reports.delete(fastest);
    }
    const report = reportRun(trace, { status, answer: '', durationMs });
    this.#reports.set(tracked, { ...report, strategies: report.strategies.slice(0, maxStrategies) });
  }

  /** Drops the oldest query that was not seen again; queries that were are moved to the end. */
  #dropOne(): void {
    for (const [key, tracked] of this.#tracked) {
      this.#tracked.delete(key);
      if (!tracked.isSeenAgain) {
        this.#reports.delete(tracked);
        return;
      }
      tracked.isSeenAgain = false;
      this.#tracked.set(key, tracked);
    }
  }

  /** Everything that is tracked. */
  all(): TrackedQueries {
    const queries = [...this.#tracked.values()].map((one) => {
      const report = this.#reports.get(one);
      return report === undefined ? figuresOf(one) : { ...figuresOf(one), slowest_run: report };
    });
    return { total: this.#total, totalMs: this.#totalMs, queries };
  }
}

/** The report of what one or several processes have tracked. */
export function reportOf(tracked: readonly TrackedQueries[]) {
  const all = added(tracked.flatMap(({ queries }) => queries));
  const top = (figure: (one: QueryFigures) => number): readonly QueryFigures[] =>
    [...all].sort((a, b) => figure(b) - figure(a)).slice(0, listLength);
  return {
    total_queries: tracked.reduce((sum, { total }) => sum + total, 0),
    unique_queries: all.length,
    total_ms: roundMs(tracked.reduce((sum, { totalMs }) => sum + totalMs, 0)),
    top_by_frequency: top(({ count }) => count),
    top_by_latency: top(({ max_ms: maxMs }) => maxMs),
    top_by_errors: top(({ errors }) => errors).filter(({ errors }) => errors > 0),
    top_by_bytes_read: top(({ backend_bytes: bytes }) => bytes).filter(
      ({ backend_bytes: bytes }) => bytes > 0,
    ),
    top_by_total_time: top(({ total_ms: totalMs }) => totalMs),
  };
}

/** Merges the queries of several processes by fingerprint, which is computed from endpoint and text. */
function added(queries: readonly QueryFigures[]): readonly QueryFigures[] {
  const byFingerprint = new Map<string, QueryFigures>();
  for (const one of queries) {
    const other = byFingerprint.get(one.fingerprint);
    byFingerprint.set(one.fingerprint, other === undefined ? one : sumOf(other, one));
  }
  return [...byFingerprint.values()];
}

function sumOf(a: QueryFigures, b: QueryFigures): QueryFigures {
  const { slowest_run: slowestRun } = a.max_ms < b.max_ms ? b : a;
  return {
    ...a,
    ...(slowestRun === undefined ? {} : { slowest_run: slowestRun }),
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

function figuresOf({ fingerprint, counted, strategies }: Tracked): QueryFigures {
  return {
    fingerprint: fingerprint(),
    ...counted,
    total_ms: roundMs(counted.total_ms),
    max_ms: roundMs(counted.max_ms),
    strategies: triedIn(strategies),
  };
}

/** Removes duplicates, since several range aggregations may have made the same attempt. */
function triedIn(records: readonly StrategyRecord[]): readonly AttemptedStrategy[] {
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
