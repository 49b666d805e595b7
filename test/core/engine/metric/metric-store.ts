import { type Assumptions, isDeclined } from '../../../../core/engine/metric/cost.js';
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { request as send } from 'undici';
import type { Answer } from '../../../../core/wire/answer/types.js';
import { Query, type QueryRangeRequest, type QueryRequest } from '../../../../core/wire/api/request.js';
import { startDevBackend } from '../../../../plugins/embedded-backend/dev-backend.js';
import { defaultMetricLimits, type MetricLimits } from '../../../../core/logql/metric/index.js';
import type { LogsqlQuery } from '../../../../core/victoria/logsql/ast.js';
import { everything } from '../../../../core/victoria/logsql/build.js';
import { Naming } from '../../../../core/victoria/names/naming.js';
import { namesOptions } from '../../../../core/testing/options.js';
import { RowReader } from '../../../../core/victoria/names/row-reader.js';
import { askedOf } from '../plan/planned.js';
import type { Pushdown } from '../../../../core/engine/plan/rules/rule.js';
import { Trace, type UpstreamCall } from '../../../../core/base/trace.js';
import { FakeClock, makeExchange, makeHost, makeTenant } from '../../../../core/testing/index.js';
import { BoundUpstream } from '../../../../core/victoria/upstream/bound.js';
import { CircuitBreaker } from '../../../../core/base/admission/circuit-breaker.js';
import { BackendClient } from '../../../../core/victoria/upstream/client.js';
import { createMemories } from '../../../../core/engine/memories.js';
import { engineMetrics } from '../../../../core/engine/metrics.js';
import { answerMetric } from '../../../../core/engine/metric/metric.js';
import { planRequest } from '../../../../core/engine/plan/plan.js';
import type { MetricPlan } from '../../../../core/engine/plan/types.js';
import { NameLearner } from '../../../../core/victoria/names/name-learner.js';
import type { ReadStrategy } from '../../../../core/engine/metric/context.js';
import { strategies } from '../../../../core/engine/metric/strategies.js';
import type { RowThreads } from '../../../../core/engine/metric/threads/row-threads.js';
import { noWorkers } from '../../logql/lines-here.js';
import { watchedUpstream } from './watched-upstream.js';

export interface StoredEntry {
  readonly ns: bigint;
  readonly stream: Readonly<Record<string, string>>;
  readonly line: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

export interface RunOptions {
  readonly account: number;
  readonly pushdown?: Pushdown;
  readonly maxRows?: number;
  readonly limits?: Partial<MetricLimits>;
  readonly signal?: AbortSignal;
  /** Threads that count rows; the event loop by default. */
  readonly rowThreads?: RowThreads;
  /** Records calls and attempts, also for queries that fail. */
  readonly trace?: Trace;
  /** Assumptions about the data; none by default. */
  readonly assumptions?: Assumptions;
  /** Candidate strategies; the cheapest one reads a leaf. By default all strategies are tried in order, so that tests of one reach it. */
  readonly strategies?: readonly ReadStrategy[];
  /** Called for each query for rows or statistics. */
  readonly asked?: (query: LogsqlQuery) => void;
}

export interface MetricRun {
  readonly answer: Answer;
  readonly calls: readonly UpstreamCall[];
  /** Strategies that were tried with their outcomes, as `rows:ran`. */
  readonly tried: readonly string[];
}

export const naming = new Naming(namesOptions());

/** An embedded backend, or the one at BACKEND_URL; each test stores data under an account of its own. */
export class MetricStore {
  readonly url: string;
  /** First account of this run, so that runs on the same backend do not share accounts. */
  readonly #firstAccount = process.env['BACKEND_URL'] === undefined ? 0 : randomInt(1_000_000, 4_000_000_000);
  readonly #client: BackendClient;
  readonly #close: () => Promise<void>;
  /** A time after all entries. */
  readonly #clock = new FakeClock(1_800_000_000_000_000_000n);
  readonly #learner = new NameLearner(this.#clock);
  readonly memories = createMemories(makeHost({ metrics: engineMetrics, clock: this.#clock }));

  private constructor(url: string, close: () => Promise<void>) {
    this.url = url;
    this.#close = close;
    const breaker = new CircuitBreaker(
      { breakerFailThreshold: 100, breakerOpenDuration: 1, breakerWindowDuration: 1 },
      { monotonicMs: () => 0 },
    );
    const options = { url, timeout: 60_000, compression: 'none', tlsSkipVerify: false } as const;
    this.#client = new BackendClient(
      { ...options, maxConcurrent: 8, maxBufferedResponseBytes: 1e8, maxRowBytes: 1e7 },
      breaker,
    );
  }

  static async open(): Promise<MetricStore> {
    const external = process.env['BACKEND_URL'];
    if (external !== undefined) return new MetricStore(external, () => Promise.resolve());
    const backend = await startDevBackend();
    return new MetricStore(backend.url, () => backend.close());
  }

  async close(): Promise<void> {
    await this.#client.close();
    await this.#close();
  }

  async push(account: number, entries: readonly StoredEntry[]): Promise<void> {
    const streams = entries.map(({ ns, stream, line, metadata = {} }) => ({
      stream,
      values: [[ns.toString(), line, metadata]],
    }));
    await this.#insert(account, entries.length, '/insert/loki/api/v1/push?disable_message_parsing=1', {
      type: 'application/json',
      body: JSON.stringify({ streams }),
    });
  }

  /** Stores rows unchanged: `_time` in RFC 3339, `_msg` if there is a line, and fields. */
  async pushRows(
    account: number,
    rows: readonly Readonly<Record<string, string>>[],
    streamFields: readonly string[],
  ): Promise<void> {
    await this.#insert(account, rows.length, `/insert/jsonline?_stream_fields=${streamFields.join()}`, {
      type: 'application/stream+json',
      body: rows.map((row) => JSON.stringify(row)).join('\n'),
    });
  }

  async #insert(
    account: number,
    rows: number,
    path: string,
    content: { readonly type: string; readonly body: string },
  ): Promise<void> {
    const before = await this.#count(account);
    await this.#post(account, path, content);
    // A backend shows rows and streams a while after it has accepted them.
    while ((await this.#count(account)) < before + rows) await sleep(50);
  }

  async #count(account: number): Promise<number> {
    const body = new URLSearchParams({ query: '{none=""} | stats count() rows' }).toString();
    const type = 'application/x-www-form-urlencoded';
    const text = await this.#post(account, '/select/logsql/query', { type, body });
    return Number(/"rows":"(\d+)"/.exec(text)?.[1] ?? 0);
  }

  async #post(
    account: number,
    path: string,
    { type, body }: { readonly type: string; readonly body: string },
  ): Promise<string> {
    const accountid = String(this.stored(account));
    const headers = { 'content-type': type, accountid, projectid: '0' };
    const answer = await send(this.url + path, { method: 'POST', headers, body });
    const text = await answer.body.text();
    if (answer.statusCode >= 300) throw new Error(`${answer.statusCode} ${text}`);
    return text;
  }

  /** The backend account that holds the entries of a test account. */
  stored(account: number): number {
    return this.#firstAccount + account;
  }

  upstream(account: number, signal: AbortSignal, trace: Trace): BoundUpstream {
    return new BoundUpstream(this.#client, {
      signal,
      trace,
      headers: { accountid: String(this.stored(account)), projectid: '0' },
      parameters: [],
      dataOwner: String(account),
      scope: everything,
    });
  }

  /** Plans and answers a metric request. */
  async run(request: QueryRangeRequest | QueryRequest, options: RunOptions): Promise<MetricRun> {
    const { account, pushdown = 'on', maxRows = 0, limits } = options;
    const { signal = new AbortController().signal, trace = new Trace() } = options;
    const plan = await this.#plan(request, account, pushdown);
    const bound = this.upstream(account, signal, trace);
    const { asked } = options;
    const upstream = asked === undefined ? bound : watchedUpstream(bound, asked);
    const answer = await answerMetric(plan, request, {
      upstream,
      reader: new RowReader(naming),
      naming,
      clock: this.#clock,
      maxRows,
      workers: noWorkers,
      rowThreads: options.rowThreads,
      strategies: options.strategies ?? strategies.map(ofUnknownCost),
      assumptions: options.assumptions,
      repeatedRows: 'once',
      ...this.memories,
      tried: (record) => trace.strategies.push(record),
      limits: { ...defaultMetricLimits, ...limits },
      memory: limits?.memory ?? defaultMetricLimits.memory,
      signal,
    });
    const tried = trace.strategies.map(({ strategy, outcome }) => `${strategy}:${outcome}`);
    return { answer, calls: trace.upstreamCalls, tried };
  }

  /** Plans a request as the engine does. The calls for stored names are not in the trace of the run. */
  async #plan(
    request: QueryRangeRequest | QueryRequest,
    account: number,
    pushdown: Pushdown,
  ): Promise<MetricPlan> {
    const signal = new AbortController().signal;
    const slots = {
      tenant: makeTenant(),
      plan: askedOf(request, naming, { pushdown }),
      upstream: this.upstream(account, signal, new Trace()),
    };
    const exchange = makeExchange<'tenant' | 'plan' | 'upstream'>({ request, slots });
    const { plan } = await planRequest(exchange, naming, this.#learner);
    if (plan.kind !== 'metric') throw new Error('not a metric query');
    return plan;
  }
}

function ofUnknownCost(strategy: ReadStrategy): ReadStrategy {
  return {
    ...strategy,
    estimate: (leaf, known) => {
      const estimate = strategy.estimate(leaf, known);
      return isDeclined(estimate)
        ? estimate
        : { ...estimate, cost: { ...estimate.cost, sentRows: undefined } };
    },
  };
}

/**
 * Stores random entries under a new account each time, and runs all queries over a range and at an instant, with a duration for `RANGE`.
 */
export async function forStored(
  store: MetricStore,
  entries: fc.Arbitrary<readonly StoredEntry[]>,
  queries: readonly string[],
  numRuns: number,
  nextAccount: () => number,
  check: (request: QueryRangeRequest | QueryRequest, account: number, text: string) => Promise<void>,
): Promise<void> {
  const times = [fc.integer({ min: 1, max: 200 }), fc.integer({ min: 7, max: 150 })] as const;
  await fc.assert(
    fc.asyncProperty(
      entries,
      ...times,
      fc.integer({ min: 0, max: 300 }),
      async (stored, range, step, start) => {
        const account = nextAccount();
        if (stored.length > 0) await store.push(account, stored);
        for (const query of queries) {
          const startNs = storedFromNs + BigInt(start) * nsPerSecond;
          const text = query.replace('RANGE', `${range}s`);
          const endNs = startNs + 300n * nsPerSecond;
          await check(rangeRequest(text, startNs, endNs, BigInt(step) * nsPerSecond), account, text);
          await check(instantRequest(text, startNs + 100n * nsPerSecond + 1n), account, text);
        }
      },
    ),
    { numRuns },
  );
}

const nsPerSecond = 1_000_000_000n;
/** Entries of `forStored` must be within ten minutes from here. */
export const storedFromNs = 1793491200000000000n;

export function rangeRequest(
  text: string,
  startNs: bigint,
  endNs: bigint,
  stepNs: bigint,
): QueryRangeRequest {
  const query = new Query(text, 'reject');
  const range = { startNs, endNs };
  return { op: 'query_range', query, range, stepNs, limit: 100, direction: 'backward', intervalNs: 0n };
}

export function instantRequest(text: string, timeNs: bigint): QueryRequest {
  return { op: 'query', query: new Query(text, 'reject'), timeNs, limit: 100, direction: 'backward' };
}

/** Drops the last digits of a value, which depend on the order in which fractions are added. */
function shown(value: number): number {
  return Number(value.toPrecision(12));
}

/** The values of an answer by series and time in milliseconds. */
export function valuesOf(answer: Answer): Record<string, number> {
  const found: [string, number][] = [];
  if (answer.kind === 'matrix') {
    for (const { labels, points } of answer.series)
      for (const { timestampMs, value } of points)
        found.push([`${labels.json}@${timestampMs}`, shown(value)]);
  } else if (answer.kind === 'vector') {
    for (const { labels, point } of answer.samples) found.push([labels.json, shown(point.value)]);
  } else throw new Error(answer.kind);
  return Object.fromEntries(found.sort(([a], [b]) => (a < b ? -1 : 1)));
}
