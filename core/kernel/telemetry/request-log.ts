import { createHash, randomUUID } from 'node:crypto';
import type { Caller } from '../../base/caller.js';
import type { Clock } from '../../base/clock.js';
import { ApiError } from '../../base/errors/api-error.js';
import { causesOf } from '../../base/errors/causes.js';
import { RefusedQuery } from '../../base/errors/refused-query.js';
import type { LogFields, Logger } from '../../base/logger.js';
import type { TelemetryOptions } from '../../base/options.gen.js';
import { Trace } from '../../base/trace.js';
import { endUserOf } from '../../victoria/upstream/connections.js';
import { defectIn } from '../blame.js';
import { startInterval } from '../../base/time/waits.js';

/** The principal of the datasource's credentials; never a secret, and not to be taken for the end user. */
export function authOf(caller: Caller): { readonly source: string; readonly principal?: string } | undefined {
  const header = caller.headers.get('authorization');
  if (header === undefined) return undefined;
  const basic = /^Basic\s+([A-Za-z0-9+/=]+)$/i.exec(header)?.[1];
  if (basic !== undefined) {
    const user = Buffer.from(basic, 'base64').toString('utf8').split(':')[0] ?? '';
    return { source: 'basic', principal: user };
  }
  return { source: /^Bearer\s/i.test(header) ? 'bearer' : 'authorization' };
}

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

/** Request types of routes that probes, scrapers and open pages request all day; their successes are only logged at debug level. */
const quietTypes: ReadonlySet<string> = new Set([
  'ready',
  'alive',
  'livez',
  'health',
  'healthz',
  'metrics',
  'ui_pipeline',
  'worker_get',
  'worker_set',
]);

/** Writes one record per request, or a summary per interval if there are too many; errors are always recorded. */
export class RequestLog implements RequestObserver {
  readonly #rate: RequestRate;
  readonly #summary = new RequestSummary();
  #sampled = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly log: Logger,
    private readonly options: TelemetryOptions,
    clock: Clock,
  ) {
    this.#rate = new RequestRate(clock);
  }

  start(): void {
    if (this.options.logRateThreshold === 0) return;
    this.#timer = startInterval(() => this.summarize(), this.options.logStatsInterval);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.summarize();
  }

  /** Writes the summary of the requests without a record since the last summary. */
  summarize(): void {
    const fields = this.#summary.take();
    if (fields !== undefined) this.log.info('request summary', fields);
  }

  started(): void {
    this.#rate.count();
  }

  finished(record: RequestRecord, status: number, durationMs: number): void {
    const isQuiet = quietTypes.has(record.requestType);
    if (status < 400) {
      if (isQuiet && this.options.logLevel !== 'debug') return;
      if (!this.#isWritten()) {
        this.#summary.add(record.requestType, durationMs);
        return;
      }
    }
    const fields = this.#fields(record, status, durationMs);
    if (status < 400) this.log.info('request', fields);
    // A probe that is answered with "not yet" was answered successfully.
    else if (status < 500 || isQuiet) this.log.warn('request failed', fields);
    else this.log.error('request failed', fields);
    if (this.options.logLevel === 'debug') this.#children(record);
  }

  /** Writes a record for each backend call, after that of the request. */
  #children({ route, requestType, caller, trace }: RequestRecord): void {
    for (const call of trace.upstreamCalls)
      this.log.debug('backend call', {
        'http.route': call.path,
        'http.parent_route': route,
        'http.response.status_code': call.status,
        'ref.request.type': call.type,
        'ref.parent_request.type': requestType,
        'ref.api.system': 'backend',
        'proxy.direction': 'upstream',
        'ref.tenant.id': trace.tenantId ?? caller.orgId ?? '',
        'event.duration': Math.round(call.durationMs * 1e6),
        'upstream.rows': call.rows,
        'upstream.bytes': call.bytes,
        'upstream.strategy': call.strategy,
      });
  }

  #isWritten(): boolean {
    const { logRateThreshold, logRequestSampleRate } = this.options;
    if (logRateThreshold > 0) return this.#rate.perSecond() <= logRateThreshold;
    this.#sampled += 1;
    return logRequestSampleRate <= 1 || this.#sampled % logRequestSampleRate === 0;
  }

  #fields(record: RequestRecord, status: number, durationMs: number): LogFields {
    const { caller, trace, query } = record;
    const { debugLogRawQueries, logLevel, metricsTrustProxyHeaders } = this.options;
    const user = endUserOf(caller, trace.tenantId, metricsTrustProxyHeaders);
    const auth = authOf(caller);
    const upstreamMs = trace.upstreamCalls.reduce((sum, call) => sum + call.durationMs, 0);
    return {
      'http.route': record.route,
      'url.path': record.path,
      'http.request.method': record.method,
      'http.response.status_code': status,
      'ref.request.type': record.requestType,
      'ref.api.system': 'ref',
      'proxy.direction': 'downstream',
      'ref.tenant.id': trace.tenantId ?? caller.orgId ?? '',
      'ref.query': query === undefined || debugLogRawQueries ? query : digestQuery(query),
      'event.duration': Math.round(durationMs * 1e6),
      'client.address': caller.address,
      'enduser.id': user.id,
      'enduser.name': user.name,
      'enduser.source': user.source,
      'auth.source': auth?.source,
      'auth.principal': auth?.principal,
      'cache.result': trace.cacheResult ?? 'bypass',
      'proxy.duration_ms': roundMs(durationMs),
      // Parallel calls can add up to more than the request's duration.
      'proxy.overhead_ms': roundMs(Math.max(0, durationMs - upstreamMs)),
      'upstream.calls': trace.upstreamCalls.length,
      'upstream.status_code': trace.upstreamCalls.at(-1)?.status,
      'upstream.duration_ms': roundMs(upstreamMs),
      ...(logLevel === 'debug' ? byType(trace) : {}),
      ...errorFields(record.error, status, debugLogRawQueries),
      ...(status === 500 ? culpritFields(record.error) : {}),
    };
  }
}

function roundMs(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

/** The figures by type, which are only written at debug level (docs/protocol/operation.md#structured-logs). */
function byType(trace: Trace): LogFields {
  const calls = trace.upstreamCalls.map((call) => [`backend:${call.type}`, call.durationMs] as const);
  const operations = trace.operations.map(
    (done) => [`${done.operation}:${done.outcome}`, done.durationMs] as const,
  );
  const strategies = trace.strategies.map(
    (tried) => [`${tried.strategy}:${tried.outcome}`, tried.durationMs] as const,
  );
  return {
    'upstream.calls_by_type': countByKey(calls),
    'upstream.duration_ms_by_type': sumByKey(calls),
    'proxy.operations_by_type': countByKey(operations),
    ...(strategies.length === 0 ? {} : { 'proxy.strategies_by_type': countByKey(strategies) }),
    'proxy.operation_duration_ms_by_type': sumByKey(operations),
  };
}

type Measured = readonly (readonly [key: string, durationMs: number])[];

function countByKey(measured: Measured): Readonly<Record<string, number>> {
  return sumByKey(measured.map(([key]) => [key, 1]));
}

function sumByKey(measured: Measured): Readonly<Record<string, number>> {
  const sums = new Map<string, number>();
  for (const [key, value] of measured) sums.set(key, (sums.get(key) ?? 0) + value);
  return Object.fromEntries([...sums].map(([key, value]) => [key, roundMs(value)]));
}

/** Fields with the plugin that has the defect, and its position in the file. */
function culpritFields(error: unknown): LogFields {
  const culprit = defectIn(error);
  if (culprit === undefined) return {};
  const { id, kind, plugin, at } = culprit;
  return { 'plugin.id': id, 'plugin.kind': kind, 'plugin.name': plugin, 'plugin.at': at };
}

function errorFields(error: unknown, status: number, mayShowQueries: boolean): LogFields {
  if (error === undefined) return {};
  // The text of a LogQL error quotes the query.
  if (error instanceof RefusedQuery)
    return mayShowQueries ? { 'error.message': error.message } : { 'error.type': error.name };
  if (!(error instanceof Error)) return { 'error.message': 'a plugin threw a value that is not an Error' };
  // A bug needs its stack; expected errors, such as an unreachable backend, do not.
  const isBug = status === 500 && !(error instanceof ApiError && error.cause === undefined);
  if (isBug) return { 'error.message': error.message, error };
  // Such as the error code of a failed connection.
  const cause = causesOf(error).at(-1);
  const isTold = cause !== undefined && (mayShowQueries || !(cause instanceof RefusedQuery));
  return { 'error.message': error.message, ...(isTold ? { 'error.cause': cause.message } : {}) };
}

/** Requests per second, from the current second and the remaining share of the previous one. */
class RequestRate {
  #second = 0;
  #current = 0;
  #previous = 0;

  constructor(private readonly clock: Clock) {}

  count(): void {
    this.#roll();
    this.#current += 1;
  }

  perSecond(): number {
    const passed = this.#roll();
    return this.#current + this.#previous * (1 - passed);
  }

  /** Advances to the current second; returns the elapsed share of it. */
  #roll(): number {
    const seconds = this.clock.monotonicMs() / 1000;
    const second = Math.floor(seconds);
    if (second !== this.#second) {
      this.#previous = second === this.#second + 1 ? this.#current : 0;
      this.#current = 0;
      this.#second = second;
    }
    return seconds - second;
  }
}

/** Totals of the requests without a record of their own. Request types are route ids, so the map stays small. */
class RequestSummary {
  readonly #byType = new Map<string, number>();
  #count = 0;
  #totalMs = 0;
  #maxMs = 0;

  add(requestType: string, durationMs: number): void {
    this.#byType.set(requestType, (this.#byType.get(requestType) ?? 0) + 1);
    this.#count += 1;
    this.#totalMs += durationMs;
    this.#maxMs = Math.max(this.#maxMs, durationMs);
  }

  /** Returns the fields of the summary record and resets them; undefined if there were no requests. */
  take(): LogFields | undefined {
    if (this.#count === 0) return undefined;
    const fields = {
      'requests.count': this.#count,
      'requests.by_type': Object.fromEntries(this.#byType),
      'requests.mean_duration_ms': roundMs(this.#totalMs / this.#count),
      'requests.max_duration_ms': roundMs(this.#maxMs),
    };
    this.#byType.clear();
    this.#count = 0;
    this.#totalMs = 0;
    this.#maxMs = 0;
    return fields;
  }
}
