import {
  breakerGaugeValue,
  type BreakerState,
  CircuitBreaker,
} from '../../core/base/admission/circuit-breaker.js';
import { WaitBudget, Waits, startTimer, timeoutSignal } from '../../core/base/time/waits.js';
import { apiError } from '../../core/base/errors/table.js';
import { dataOwner } from '../../core/base/key-parts.js';
import type { Logger } from '../../core/base/logger.js';
import type { BackendOptions } from '../../core/base/options.gen.js';
import type { Trace } from '../../core/base/trace.js';
import { authorizationOf } from '../../core/base/url-credentials.js';
import { createFingerprint, type Fingerprint } from '../../core/cache/keys.js';
import type { Answer, Exchange, Host, Rest, Stage } from '../../core/plugin/index.js';
import { type Binding, BoundUpstream } from '../../core/victoria/upstream/bound.js';
import { BackendClient, clientOptions } from '../../core/victoria/upstream/client.js';
import {
  headersFor,
  ownHeaders,
  tenantParameters,
  tenantScope,
} from '../../core/victoria/upstream/connections.js';
import { isLostNode } from '../../core/victoria/upstream/failures.js';
import { CallGate, OwnCalls, type OwnCallsView, Pulse } from '../../core/victoria/upstream/gate.js';
import { ClusterGauges } from '../../core/victoria/upstream/gates/cluster-gauges.js';
import { ExchangeGates, type GatesOptions, WaitedCalls } from '../../core/victoria/upstream/gates/gates.js';
import { GaugesReader } from '../../core/victoria/upstream/gates/gauges.js';
import { heavyGate, pacedSlots } from '../../core/victoria/upstream/gates/call-gates.js';
import { ScanGate } from '../../core/victoria/upstream/gates/scan-gate.js';
import { emptyUpstream } from '../../core/victoria/upstream/no-data.js';
import {
  checkVersion,
  healthProblem,
  type MetricsPage,
  probeCall,
  type Probed,
} from '../../core/victoria/upstream/probe.js';
import type { Upstream } from '../../core/victoria/upstream/types.js';
import { backendVersion, shownVersion, toldVersion } from '../../core/victoria/upstream/version.js';
import { warned } from '../../core/wire/answer/warned.js';
import type { Operation } from '../../core/wire/api/request.js';
import type { backendMetrics } from './metrics.js';

/** Number of permits for statistics over time if the option is 0. */
const defaultPermits = 4;
const maxWaitingStatistics = 500;
const gaugesWithinMs = 2_000;

/** The gates of one backend, shared by all exchanges. */
function makeGates(
  options: BackendOptions,
  { meters, clock }: Pick<Host<typeof backendMetrics>, 'meters' | 'clock'>,
  pages: readonly MetricsPage[],
  own: OwnCallsView,
): GatesOptions {
  const nowMs = (): number => clock.monotonicMs();
  const queueWaitMs = options.heavyQueryQueueWait;
  const heavy = heavyGate({
    limit: options.maxConcurrentHeavyQueries,
    queueWaitMs,
    nowMs,
    onRefused: () => meters.backend_heavy_queries_refused_total.add(1, {}),
    onChange: (running, waiting) => {
      meters.backend_heavy_queries.set(running, { state: 'running' });
      meters.backend_heavy_queries.set(waiting, { state: 'waiting' });
    },
  });
  const ceiling = options.maxConcurrentMetadataScans;
  const scans = new ScanGate({
    ceiling,
    floor: Math.min(options.minConcurrentMetadataScans, ceiling),
    tolerance: options.metadataScanLatencyTolerance,
    headroom: options.metadataScanMemoryHeadroom,
    queueWaitMs,
    own,
    gauges: new ClusterGauges(
      pages.map(({ read }) => new GaugesReader(() => read(timeoutSignal(gaugesWithinMs)), nowMs)),
    ),
    nowMs,
    random: Math.random,
    onRefused: (reason) => meters.backend_metadata_scans_refused_total.add(1, { reason }),
    onChange: (limit, running, waiting) => {
      meters.backend_metadata_scan_limit.set(limit, {});
      meters.backend_metadata_scans.set(running, { state: 'running' });
      meters.backend_metadata_scans.set(waiting, { state: 'waiting' });
    },
  });
  const permits = options.statsQueryRangeConcurrency || defaultPermits;
  const statistics = new CallGate({
    limit: permits,
    waitMs: options.timeout,
    nowMs,
    maxWaiting: maxWaitingStatistics,
    full: (limit, waiting) => apiError('statisticsQueueFull', { limit, waiting }),
    onChange: (running, waiting) => {
      meters.backend_statistics.set(running, { state: 'running' });
      meters.backend_statistics.set(waiting, { state: 'waiting' });
    },
  });
  const paced = pacedSlots({
    permits,
    pauseMs: options.statsQueryRangeInterQueryDelay,
    onChange: (waiting) => meters.backend_drilldown_statistics_waiting.set(waiting, {}),
  });
  const waited = new WaitedCalls();
  const minRangeMs = options.heavyQueryMinRange;
  return { heavy, scans, statistics, paced, waited, minRangeMs, queueWaitMs, nowMs };
}

/** The metrics page at a URL, requested by `client`, which is bound to its origin. The first failure after a success is logged. */
function metricsPage(
  url: URL,
  client: BackendClient,
  headers: Readonly<Record<string, string>>,
  log: Logger,
): MetricsPage {
  // The other parts of the URL may be secret.
  const process = url.origin;
  let hasFailed = false;
  const read = async (signal: AbortSignal): Promise<string> => {
    const path = url.pathname === '/' ? '/metrics' : url.pathname;
    const answer = await client.call(probeCall({ path, form: [...url.searchParams], headers, signal }));
    const text = await answer.text();
    if (!metricOfVictoriaLogs.test(text)) throw new Error('they are not the metrics of VictoriaLogs');
    return text;
  };
  return {
    process,
    read: async (signal) => {
      try {
        const text = await read(signal);
        hasFailed = false;
        return text;
      } catch (error) {
        if (!hasFailed) log.warn(`cannot read the metrics of ${process}`, { error });
        hasFailed = true;
        throw error;
      }
    },
  };
}

const metricOfVictoriaLogs = /^(?:vl_|vm_app_version)/m;

type BackendHost = Host<typeof backendMetrics>;

const readinessTimeoutMs = 2000;
const notReady = 'backend not ready';
const partialWarning =
  'partial response: a storage node of the backend is unreachable, so its rows are missing';

/** Operations for which the backend's error status is passed on; listings, statistics and detected fields answer 502. */
const keptStatuses: ReadonlySet<Operation> = new Set<Operation>([
  'query',
  'query_range',
  'tail',
  'patterns',
  'delete',
  'deletions',
]);

/** Binds the backend to each exchange: its tenant, caller, signal and trace. */
export class BackendStage implements Stage<'tenant', 'upstream'> {
  readonly #options: BackendOptions;
  readonly #host: BackendHost;
  readonly #breaker: CircuitBreaker;
  readonly #client: BackendClient;
  /** Clients of the backend's other processes, for their metrics. */
  readonly #pageClients: readonly BackendClient[];
  readonly #probed: Probed;
  readonly #gates: GatesOptions;
  /** Remaining wait of requests at the gates, by trace, which the parts of a request share. */
  readonly #budgets = new WeakMap<Trace, WaitBudget>();
  readonly #pulse: Pulse;
  readonly #fingerprint: Fingerprint;
  #probing: Promise<string | undefined> | undefined;
  #openTimer: NodeJS.Timeout | undefined;
  #partialAnswers = 0;

  constructor(options: BackendOptions, host: BackendHost) {
    this.#options = options;
    this.#host = host;
    this.#fingerprint = createFingerprint(options);
    this.#breaker = new CircuitBreaker(options, host.clock, (state) => this.#onBreaker(state));
    this.#pulse = new Pulse({
      probe: (signal) => healthProblem(this.#client, this.#probed.headers, signal),
      nowMs: () => host.clock.monotonicMs(),
      report: (lateMs) => {
        host.strain.report(lateMs);
        host.meters.backend_delay_seconds.observe(lateMs / 1000, {});
      },
    });
    const own = new OwnCalls(() => host.clock.monotonicMs());
    const settings = clientOptions(options.url, options);
    this.#client = new BackendClient(
      {
        ...settings,
        onCalls: (running, waiting) => {
          host.meters.backend_calls.set(running, { state: 'running' });
          host.meters.backend_calls.set(waiting, { state: 'waiting' });
          this.#pulse.calls(running);
          own.set(running);
        },
      },
      this.#breaker,
    );
    const headers = ownHeaders(options);
    const others = options.metricsUrl.map((text) => {
      const url = new URL(text);
      // Only used for probes, so that it does not affect the breaker, which belongs to the backend.
      const client = new BackendClient({ ...settings, url: new URL('/', url).href }, this.#breaker);
      const own = authorizationOf(url) === undefined ? headers : {};
      return { client, page: metricsPage(url, client, own, host.log) };
    });
    this.#pageClients = others.map(({ client }) => client);
    const ownPage = (): MetricsPage =>
      metricsPage(new URL('/metrics', options.url), this.#client, headers, host.log);
    const pages = others.length > 0 ? others.map(({ page }) => page) : [ownPage()];
    this.#probed = { client: this.#client, headers, pages };
    this.#gates = makeGates(options, host, pages, own);
  }

  async start(signal: AbortSignal): Promise<void> {
    this.#host.meters.circuit_breaker_state.set(breakerGaugeValue.closed, {});
    const bound = AbortSignal.any([signal, timeoutSignal(this.#options.versionCheckTimeout)]);
    const rule = {
      minVersion: this.#options.minVersion,
      allowUnsupported: this.#options.allowUnsupportedVersion,
    };
    const { version, problem } = await checkVersion(this.#probed, rule, bound);
    backendVersion(this.#host).current = toldVersion(version);
    if (problem === undefined) {
      const shown = version === undefined ? 'unknown' : shownVersion(version);
      this.#host.log.info('backend is healthy', { 'backend.version': shown });
      return;
    }
    if (this.#options.versionStrict) throw new Error(problem);
    this.#host.log.warn(problem);
  }

  async ready(): Promise<string | undefined> {
    // Reads the state without asking for a permit: a readiness check must not take the breaker's probe permit.
    if (this.#breaker.state === 'open') return notReady;
    // Concurrent checks share one probe, so that they do not queue for a hanging backend.
    this.#probing ??= this.#probe();
    return this.#probing;
  }

  async #probe(): Promise<string | undefined> {
    try {
      const problem = await healthProblem(
        this.#client,
        this.#probed.headers,
        timeoutSignal(readinessTimeoutMs),
      );
      return problem === undefined ? undefined : notReady;
    } finally {
      this.#probing = undefined;
    }
  }

  async handle(exchange: Exchange<'tenant'>, rest: Rest<'upstream'>): Promise<Answer> {
    try {
      return await this.#answer(exchange, rest, false);
    } catch (error) {
      const { op } = exchange.request;
      const mayBePartial = this.#options.partialResponses && op !== 'delete' && op !== 'tail';
      if (!mayBePartial || !isLostNode(error)) throw error;
      const answer = warned(await this.#answer(exchange, rest, true), partialWarning);
      if (answer === undefined) throw error;
      this.#host.meters.backend_partial_answers_total.add(1, {});
      return answer;
    }
  }

  #answer(exchange: Exchange<'tenant'>, rest: Rest<'upstream'>, mayBePartial: boolean): Promise<Answer> {
    const { tenant } = exchange.slots;
    if (tenant.hasNoData === true) {
      const nothing = emptyUpstream(tenant, exchange.signal);
      return rest(exchange.derive<'upstream'>({ slots: { upstream: nothing } }));
    }
    const { signal, slots, caller } = exchange;
    const owner = [dataOwner(tenant), caller.address];
    const rowsOwner = dataOwner(tenant, this.#fingerprint(caller.headers));
    const waits = new Waits(() => this.#host.clock.monotonicMs());
    const binding: Binding = {
      signal,
      waits,
      mayBePartial,
      // A fact learned from some rows must not be assumed of all rows, nor of other subsets.
      dataOwner: mayBePartial ? `${rowsOwner} in part ${(this.#partialAnswers += 1)}` : rowsOwner,
      owner: [...owner, exchange.trace],
      trace: exchange.trace,
      span: exchange.span,
      memory: exchange.memory,
      headers: headersFor(caller, tenant, this.#options),
      parameters: tenantParameters(tenant),
      scope: tenantScope(tenant),
      statusRule: keptStatuses.has(exchange.request.op) ? 'keep' : 'gateway',
      ...(tenant.oldestNs === undefined ? {} : { oldestNs: tenant.oldestNs }),
    };
    const gates = new ExchangeGates(this.#gates, {
      owner,
      signal,
      budget: this.#budgetOf(exchange.trace),
      isDrilldown: caller.isDrilldown,
      isBackground: caller.isBackground === true,
      yields: caller.yields === true,
      permit: slots.permit,
    });
    if ('range' in exchange.request) gates.expect(exchange.request.range);
    const inventory = mayBePartial ? undefined : slots.inventory;
    const run = (upstream: Upstream): Promise<Answer> =>
      rest(exchange.derive<'upstream'>({ slots: { upstream: inventory?.(upstream) ?? upstream }, waits }));
    const upstream = new BoundUpstream(this.#client, { ...binding, gates });
    return slots.cold === undefined ? run(upstream) : slots.cold(upstream, binding, exchange.request.op, run);
  }

  #budgetOf(trace: Trace): WaitBudget {
    const { queueWaitMs, nowMs } = this.#gates;
    const budget = this.#budgets.get(trace) ?? new WaitBudget(queueWaitMs, nowMs);
    this.#budgets.set(trace, budget);
    return budget;
  }

  async stop(): Promise<void> {
    clearTimeout(this.#openTimer);
    this.#pulse.stop();
    for (const client of [this.#client, ...this.#pageClients]) await client.close();
  }

  #onBreaker(state: BreakerState): void {
    this.#showBreaker(state);
    this.#host.log.warn(`circuit breaker is ${state}`);
    clearTimeout(this.#openTimer);
    if (state !== 'open') return;
    // After this time the breaker would admit probes, but there may be no request to serve as one.
    this.#openTimer = startTimer(
      () => this.#showBreaker('half-open'),
      this.#options.breakerOpenDuration,
    ).unref();
  }
  #showBreaker(state: BreakerState): void {
    this.#host.meters.circuit_breaker_state.set(breakerGaugeValue[state], {});
  }
}
