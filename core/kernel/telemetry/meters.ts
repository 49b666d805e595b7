import { ofKey } from '../../base/memory/byte-lru.js';
import { Registry } from 'prom-client';
import type { Clock } from '../../base/clock.js';
import type { Counter, Histogram, Meters, MetricSpec, MetricSpecs } from '../../base/meters.js';
import type { TelemetryOptions } from '../../base/options.gen.js';
import { endUserOf } from '../../victoria/upstream/connections.js';
import { defectIn } from '../blame.js';
import { expose, type Exposition } from './exposition.js';
import type { requestMetrics } from './metrics-table.js';
import { metricPrefix } from './names.js';
import type { RequestObserver, RequestRecord } from './request-log.js';
import {
  type Description,
  type Labels,
  type Measured,
  type Measurements,
  overflowLabel,
  plainCounter,
  plainGauge,
  type PlainGauge,
  plainHistogram,
} from './series.js';

/** Records finished requests in the core metrics (docs/protocol/operation.md#metrics). */
export class RequestMetrics implements RequestObserver {
  readonly #startedMs: number;
  #active = 0;
  readonly #tenants: IdentityCap;
  readonly #clients: IdentityCap;
  readonly #clientInFlight = new Map<string, number>();
  /** Series by request type, route and status. */
  readonly #kinds = new Map<string, Map<string, Map<string, Kind>>>();

  constructor(
    private readonly meters: Meters<typeof requestMetrics>,
    private readonly settings: TelemetryOptions,
    private readonly clock: Clock,
  ) {
    this.#startedMs = clock.monotonicMs();
    this.#tenants = new IdentityCap(settings.metricsMaxTenants);
    this.#clients = new IdentityCap(settings.metricsMaxClients);
  }

  /** Updates the gauges that are only needed at a scrape. */
  collect(): void {
    this.meters.uptime_seconds.set((this.clock.monotonicMs() - this.#startedMs) / 1000, {});
  }

  started(record: RequestRecord): void {
    this.#active += 1;
    this.meters.active_requests.set(this.#active, {});
    if (this.settings.metricsExportSensitiveLabels) this.#countClient(this.#clientOf(record), 1);
  }

  finished(record: RequestRecord, status: number, durationMs: number): void {
    this.#active -= 1;
    this.meters.active_requests.set(this.#active, {});
    const kind = this.#kindOf(record, String(status));
    const { where } = kind;
    kind.requests.add(1);
    kind.durations.observe(durationMs / 1000);
    kind.calls.observe(record.trace.upstreamCalls.length);
    this.#upstream(record);
    this.#cache(record, kind);
    this.#inside(record);
    const culprit = status === 500 ? defectIn(record.error) : undefined;
    if (culprit !== undefined)
      this.meters.plugin_defects_total.add(1, { kind: culprit.kind, plugin: culprit.id });
    if (record.tupleMode !== undefined && status === 200) {
      this.meters.response_tuple_mode_total.add(1, { mode: record.tupleMode });
    }
    if (this.settings.metricsExportSensitiveLabels)
      this.#identities(record, where, status, durationMs / 1000);
  }

  /** The series of a kind of request. Routes, their ids and statuses are few, so the map stays small. */
  #kindOf({ requestType, route }: RequestRecord, status: string): Kind {
    const byRoute = ofKey(this.#kinds, requestType, () => new Map<string, Map<string, Kind>>());
    const byStatus = ofKey(byRoute, route, () => new Map<string, Kind>());
    return ofKey(byStatus, status, () => {
      const where = { system: 'ref', direction: 'downstream', endpoint: requestType, route };
      return {
        where,
        requests: this.meters.requests_total.of({ ...where, status }),
        durations: this.meters.request_duration_seconds.of(where),
        calls: this.meters.upstream_calls_per_request.of(where),
      };
    });
  }

  #upstream({ trace }: RequestRecord): void {
    for (const call of trace.upstreamCalls) {
      const upstream = {
        system: 'backend',
        direction: 'upstream',
        endpoint: call.type,
        route: call.path,
      };
      this.meters.requests_total.add(1, { ...upstream, status: String(call.status) });
      this.meters.backend_duration_seconds.observe(call.durationMs / 1000, upstream);
    }
  }

  #cache({ trace }: RequestRecord, { where }: Kind): void {
    if (trace.cacheResult === 'hit') {
      this.meters.cache_hits_total.add(1, {});
      this.meters.cache_hits_by_endpoint.add(1, where);
    } else if (trace.cacheResult === 'miss') {
      this.meters.cache_misses_total.add(1, {});
      this.meters.cache_misses_by_endpoint.add(1, where);
    }
  }

  #inside({ trace }: RequestRecord): void {
    for (const { operation, outcome, durationMs } of trace.operations) {
      this.meters.internal_operation_total.add(1, { operation, outcome });
      this.meters.internal_operation_duration_seconds.observe(durationMs / 1000, { operation, outcome });
      if (operation !== 'translate') continue;
      this.meters.translations_total.add(1, {});
      if (outcome === 'error') this.meters.translation_errors_total.add(1, {});
    }
  }

  #identities(record: RequestRecord, where: Where, status: number, seconds: number): void {
    const client = this.#clientOf(record);
    const tenant = this.#tenants.of(record.trace.tenantId ?? record.caller.orgId ?? '');
    const statusText = String(status);
    this.#countClient(client, -1);
    this.meters.tenant_requests_total.add(1, { ...where, tenant, status: statusText });
    this.meters.tenant_request_duration_seconds.observe(seconds, { ...where, tenant });
    this.meters.client_requests_total.add(1, { ...where, client });
    this.meters.client_response_bytes_total.add(record.responseBytes, { client });
    this.meters.client_status_total.add(1, { ...where, client, status: statusText });
    this.meters.client_request_duration_seconds.observe(seconds, { ...where, client });
    if (record.query !== undefined)
      this.meters.client_query_length_chars.observe(record.query.length, { ...where, client });
    if (status >= 400) this.meters.client_errors_total.add(1, { ...where, reason: errorReason(status) });
  }

  #clientOf(record: RequestRecord): string {
    // Uses the tenant header instead of the tenant, so that start and end of a request name the same client.
    return this.#clients.of(endUserOf(record.caller, undefined, this.settings.metricsTrustProxyHeaders).id);
  }

  #countClient(client: string, change: number): void {
    const count = (this.#clientInFlight.get(client) ?? 0) + change;
    this.#clientInFlight.set(client, count);
    this.meters.client_inflight_requests.set(count, { client });
  }
}

/** The series of all requests with equal labels. */
interface Kind {
  readonly where: Where;
  readonly requests: { add(value: number): void };
  readonly durations: { observe(value: number): void };
  readonly calls: { observe(value: number): void };
}

interface Where {
  readonly system: string;
  readonly direction: string;
  readonly endpoint: string;
  readonly route: string;
}

function errorReason(status: number): string {
  if (status === 499) return 'canceled';
  if (status === 429) return 'rate_limited';
  if (status === 504) return 'timeout';
  return status < 500 ? 'bad_request' : 'server_error';
}

/** Bounds the identities in metrics: the first N keep their names, all others share one label value. */
class IdentityCap {
  readonly #known = new Set<string>();

  constructor(private readonly max: number) {}

  of(identity: string): string {
    if (this.#known.has(identity)) return identity;
    if (this.#known.size >= this.max) return overflowLabel;
    this.#known.add(identity);
    return identity;
  }
}

/** Buckets in seconds, from half a millisecond to two minutes. */
const defaultBuckets = [
  0.0005, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120,
] as const;

/** The metrics of one process, created from their declarations, and shared if two plugins declare the same one. */
export class MeterRegistry {
  readonly registry = new Registry();
  readonly #made = new Map<string, Made>();

  /**
   * Creates the meters of some declarations; throws if a metric was declared differently before. They are held by the caller for good, or
   * until `onStop` runs its cleanup. A gauge that is no longer held is not shown, since its last value is meaningless.
   */
  create<const Metrics extends MetricSpecs>(
    specs: Metrics,
    onStop: (work: () => void) => void = () => undefined,
  ): Meters<Metrics> {
    const meters: Record<string, Meter> = {};
    for (const [name, spec] of Object.entries(specs)) {
      const made = this.#meter(name, spec);
      meters[name] = made.meter;
      hold(made);
      onStop(() => release(made));
    }
    // Built entry by entry from the declarations, as described by the mapped type.
    return meters as unknown as Meters<Metrics>;
  }

  /** All measurements so far in the text exposition format. */
  async expose(): Promise<Exposition> {
    return expose(await this.measurements());
  }

  /** All measurements so far as data. */
  async measurements(): Promise<Measurements> {
    const all: unknown = await this.registry.getMetricsAsJSON();
    // All its metrics are read in this form (`readFrom`).
    return all as Measurements;
  }

  /** The sum of a counter or gauge over its labels, or the number of observations of a histogram; 0 without measurements. */
  async total(name: string): Promise<number> {
    const measured: unknown = await this.registry.getSingleMetric(metricPrefix + name)?.get();
    // As above.
    const { series = [] } = (measured ?? {}) as Partial<Measured>;
    return series.reduce((sum, [, numbers]) => sum + (numbers.at(-1) ?? 0), 0);
  }

  #meter(name: string, spec: MetricSpec): Made {
    const known = this.#made.get(name);
    if (known !== undefined) {
      if (shapeOfMetric(known.spec) !== shapeOfMetric(spec))
        throw new Error(`metric ${name} is declared twice with different definitions`);
      return known;
    }
    const made = { spec, meter: makeMeter(this.registry, name, spec), holders: 0 };
    this.#made.set(name, made);
    return made;
  }
}

type Meter = Counter<Labels> | PlainGauge | Histogram<Labels>;

interface Made {
  readonly spec: MetricSpec;
  readonly meter: Meter;
  holders: number;
}

function hold(made: Made): void {
  made.holders += 1;
  if (made.holders === 1 && 'begin' in made.meter) made.meter.begin();
}

function release(made: Made): void {
  made.holders -= 1;
  if (made.holders === 0 && 'end' in made.meter) made.meter.end();
}

/** A text that is equal for compatible declarations of a metric, which are treated as one. */
export function shapeOfMetric(spec: MetricSpec): string {
  return JSON.stringify([spec.type, spec.labels ?? [], spec.buckets ?? []]);
}

function makeMeter(registry: Registry, name: string, spec: MetricSpec): Meter {
  const { help, labels = [], buckets = defaultBuckets, ofWorkers: aggregator = 'sum' } = spec;
  const description: Description = {
    name: metricPrefix + name,
    help,
    labelNames: [...labels],
    registers: [registry],
    aggregator,
  };
  switch (spec.type) {
    case 'counter':
      return plainCounter(description);
    case 'gauge':
      return plainGauge(description);
    case 'histogram':
      return plainHistogram(description, buckets);
  }
}
