import type { BackendOptions } from '../../core/base/options.gen.js';
import type { Answer, Exchange, Host, Rest, Stage } from '../../core/plugin/index.js';
import { createFingerprint, type Fingerprint } from '../../core/cache/fingerprint.js';
import { dataOwner } from '../../core/base/keys/data-owner.js';
import { BoundUpstream, type Binding } from '../../core/victoria/upstream/bound.js';
import { CircuitBreaker, type BreakerState } from '../../core/victoria/upstream/breaker.js';
import { BackendClient } from '../../core/victoria/upstream/client.js';
import { ExchangeGates, type GatesOptions } from '../../core/victoria/upstream/gates/gates.js';
import { headersFor, tenantParameters, tenantScope } from '../../core/victoria/upstream/forward.js';
import { EmptyUpstream } from '../../core/victoria/upstream/no-data.js';
import { checkVersion, healthProblem } from '../../core/victoria/upstream/probe.js';
import type { Upstream } from '../../core/victoria/upstream/types.js';
import { OwnCalls } from '../../core/victoria/upstream/gates/own-calls.js';
import { Pulse } from '../../core/victoria/upstream/pulse.js';
import { makeGates } from './gates.js';
import type { backendMetrics } from './metrics.js';

type BackendHost = Host<typeof backendMetrics>;

const gaugeValue: Readonly<Record<BreakerState, number>> = { closed: 0, open: 1, 'half-open': 2 };
const readinessTimeoutMs = 2000;
const notReady = 'backend not ready';

/** Binds the backend to each exchange: its tenant, caller, signal and trace. */
export class BackendStage implements Stage<'tenant', 'upstream'> {
  readonly #options: BackendOptions;
  readonly #host: BackendHost;
  readonly #breaker: CircuitBreaker;
  readonly #client: BackendClient;
  readonly #gates: GatesOptions;
  readonly #pulse: Pulse;
  readonly #fingerprint: Fingerprint;
  #probing: Promise<string | undefined> | undefined;
  #openTimer: NodeJS.Timeout | undefined;

  constructor(options: BackendOptions, host: BackendHost) {
    this.#options = options;
    this.#host = host;
    this.#fingerprint = createFingerprint(options);
    this.#breaker = new CircuitBreaker({
      failThreshold: options.breakerFailThreshold,
      openDurationMs: options.breakerOpenDuration,
      windowDurationMs: options.breakerWindowDuration,
      nowMs: () => host.clock.monotonicMs(),
      onState: (state) => this.#onBreaker(state),
    });
    this.#pulse = new Pulse({
      probe: (signal) => healthProblem(this.#client, signal),
      nowMs: () => host.clock.monotonicMs(),
      report: (lateMs) => {
        host.strain.report(lateMs);
        host.meters.backend_delay_seconds.observe(lateMs / 1000, {});
      },
    });
    const own = new OwnCalls(() => host.clock.monotonicMs());
    this.#client = new BackendClient(
      {
        url: options.url,
        timeoutMs: options.timeout,
        compression: options.compression,
        tlsSkipVerify: options.tlsSkipVerify,
        maxConcurrent: options.maxConcurrent,
        maxBufferedBytes: options.maxBufferedResponseBytes,
        maxRowBytes: options.maxRowBytes,
        onCalls: (running, waiting) => {
          host.meters.backend_calls.set(running, { state: 'running' });
          host.meters.backend_calls.set(waiting, { state: 'waiting' });
          this.#pulse.calls(running);
          own.set(running);
        },
      },
      this.#breaker,
    );
    this.#gates = makeGates(options, host, this.#client, own);
  }

  async start(signal: AbortSignal): Promise<void> {
    this.#host.meters.circuit_breaker_state.set(gaugeValue.closed, {});
    const bound = AbortSignal.any([signal, AbortSignal.timeout(this.#options.versionCheckTimeout)]);
    const rule = {
      minVersion: this.#options.minVersion,
      allowUnsupported: this.#options.allowUnsupportedVersion,
    };
    const { version, problem } = await checkVersion(this.#client, rule, bound);
    if (problem === undefined) {
      const shown = version === undefined ? 'unknown' : `v${version.major}.${version.minor}.${version.patch}`;
      this.#host.log.info('backend is healthy', { 'backend.version': shown });
      return;
    }
    if (this.#options.versionStrict) throw new Error(problem);
    this.#host.log.warn(problem);
  }

  async ready(): Promise<string | undefined> {
    // Reads the state without asking for admission: a readiness check must not take the place of a breaker probe.
    if (this.#breaker.state === 'open') return notReady;
    // Concurrent checks share one probe, so that a hanging backend does not queue them.
    this.#probing ??= this.#probe();
    return this.#probing;
  }

  async #probe(): Promise<string | undefined> {
    try {
      const problem = await healthProblem(this.#client, AbortSignal.timeout(readinessTimeoutMs));
      return problem === undefined ? undefined : notReady;
    } finally {
      this.#probing = undefined;
    }
  }

  handle(exchange: Exchange<'tenant'>, rest: Rest<'upstream'>): Promise<Answer> {
    const { tenant } = exchange.slots;
    if (tenant.hasNoData === true) {
      const nothing = new EmptyUpstream(tenant, exchange.signal);
      return rest(exchange.derive<'upstream'>({ slots: { upstream: nothing } }));
    }
    const { signal, slots, caller } = exchange;
    const owner = [dataOwner(tenant), caller.address];
    const binding: Binding = {
      signal,
      dataOwner: dataOwner(tenant, this.#fingerprint(caller.headers)),
      owner: [...owner, exchange.trace],
      trace: exchange.trace,
      memory: exchange.memory,
      headers: headersFor(caller, tenant, this.#options),
      parameters: tenantParameters(tenant),
      scope: tenantScope(tenant),
      ...(tenant.oldestNs === undefined ? {} : { oldestNs: tenant.oldestNs }),
    };
    const gates = new ExchangeGates(this.#gates, {
      owner,
      signal,
      isDrilldown: caller.isDrilldown,
      isBackground: caller.isBackground === true,
      place: slots.place,
    });
    const run = (upstream: Upstream): Promise<Answer> =>
      rest(exchange.derive<'upstream'>({ slots: { upstream: slots.inventory?.(upstream) ?? upstream } }));
    const upstream = new BoundUpstream(this.#client, { ...binding, gates });
    return slots.cold === undefined ? run(upstream) : slots.cold(upstream, binding, exchange.request.op, run);
  }

  async stop(): Promise<void> {
    clearTimeout(this.#openTimer);
    this.#pulse.stop();
    await this.#client.close();
  }

  #onBreaker(state: BreakerState): void {
    this.#showBreaker(state);
    this.#host.log.warn(`circuit breaker is ${state}`);
    clearTimeout(this.#openTimer);
    if (state !== 'open') return;
    // After this time the breaker would admit probes, but there may be no request to serve as one.
    this.#openTimer = setTimeout(
      () => this.#showBreaker('half-open'),
      this.#options.breakerOpenDuration,
    ).unref();
  }
  #showBreaker(state: BreakerState): void {
    this.#host.meters.circuit_breaker_state.set(gaugeValue[state], {});
  }
}
