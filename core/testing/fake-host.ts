import { alone, type Workers } from '../workers/workers.js';
import { SharedValues } from '../kernel/plugin/exchange.js';
import { Strain } from '../base/admission/strain.js';
import { createLimits } from '../wire/limits/limits.js';
import { NameLearner } from '../victoria/names/name-learner.js';
import { Naming } from '../victoria/names/naming.js';
import type { MetricSpecs } from '../base/meters.js';
import type { LogFields, Logger } from '../base/logger.js';
import type { Clock } from '../base/clock.js';
import type { Host, PipelineDescription, ServingState } from '../kernel/plugin/host.js';
import { MeterRegistry } from '../kernel/telemetry/meters.js';
import type { RequestObserver } from '../kernel/telemetry/request-log.js';
import { limitsOptions, namesOptions } from './options.js';
import { readMetric } from './read-metric.js';

export interface CapturedRecord {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly body: string;
  readonly fields: LogFields;
}

/** A clock that only moves when a test moves it. */
export class FakeClock implements Clock {
  #ns: bigint;
  #monotonicMs = 0;

  /** @param startNs start time; 2026-11-01T00:00:00Z by default */
  constructor(startNs = 1_793_491_200_000_000_000n) {
    this.#ns = startNs;
  }

  nowNs(): bigint {
    return this.#ns;
  }
  nowMs(): number {
    return Number(this.#ns / 1_000_000n);
  }
  monotonicMs(): number {
    return this.#monotonicMs;
  }
  advance(ms: number): void {
    this.#ns += BigInt(Math.round(ms * 1e6));
    this.#monotonicMs += ms;
  }
}

export interface FakeHost<Metrics extends MetricSpecs = MetricSpecs> extends Host<Metrics> {
  readonly clock: FakeClock;
  /** Log records of the plugin, in order. */
  readonly records: readonly CapturedRecord[];
  /** Scopes of the purges that the plugin requested, with the tenant if there is one: `all`, `all of shop`. */
  readonly purges: readonly string[];
  readonly observers: readonly RequestObserver[];
  /** Runs the cleanup that the plugin has registered (`onStop`). */
  stopped(): void;
  /** The value of a metric in the exposition, for a histogram its count; undefined without measurements. */
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number | undefined>;
}

export interface FakeHostSettings<Metrics extends MetricSpecs> {
  readonly pluginId?: string;
  /** Metrics of the plugin: `plugin.metrics`. */
  readonly metrics?: Metrics | undefined;
  /** Options of the `names` and `limits` sections, as in YAML. */
  readonly names?: Readonly<Record<string, unknown>>;
  readonly limits?: Readonly<Record<string, unknown>>;
  readonly clock?: FakeClock;
  /** The processes that serve together; only this one by default. */
  readonly workers?: Workers;
  /** Implementation of `ask`. */
  readonly ask?: Host['ask'];
  /** Result of `readiness`. */
  readonly notReady?: readonly string[];
  /** Result of `describePipeline`. */
  readonly pipeline?: PipelineDescription;
}

/** A host that records the plugin's use of it. */
export function makeHost<const Metrics extends MetricSpecs = MetricSpecs>(
  settings: FakeHostSettings<Metrics> = {},
): FakeHost<Metrics> {
  const records: CapturedRecord[] = [];
  const purges: string[] = [];
  const observers: RequestObserver[] = [];
  const stops: (() => void)[] = [];
  const meters = new MeterRegistry();
  const clock = settings.clock ?? new FakeClock();
  // Without declared metrics there are none to use, whatever the inferred type parameter is.
  const specs = settings.metrics ?? ({} as Metrics);
  const purge: Host['purge'] = (scope, tenantId) => {
    purges.push(tenantId === undefined ? scope : `${scope} of ${tenantId}`);
    return Promise.resolve();
  };
  const onStop: Host['onStop'] = (work) => void stops.push(work);
  return {
    pluginId: settings.pluginId ?? 'under-test',
    log: capturingLogger(records),
    logAs: () => capturingLogger(records),
    meters: meters.create(specs),
    naming: new Naming(namesOptions(settings.names)),
    learner: new NameLearner(clock),
    limits: createLimits(limitsOptions(settings.limits)),
    purge,
    purgeHere: purge,
    ask: settings.ask ?? (() => Promise.reject(new Error('nothing answers'))),
    readiness: () => Promise.resolve(settings.notReady ?? []),
    exposeMetrics: () => meters.expose(),
    describePipeline: () => Promise.resolve(settings.pipeline ?? nothingLoaded),
    observeRequests: (observer) => observers.push(observer),
    strain: new Strain(() => clock.monotonicMs()).view('under-test'),
    shared: new SharedValues().for(onStop),
    onStop,
    setup: 'a-setup',
    reload: () => Promise.resolve([]),
    serving: () => nothingServed,
    workers: settings.workers ?? alone(clock),
    clock,
    records,
    purges,
    observers,
    stopped: () => {
      for (const work of stops.splice(0).reverse()) work();
    },
    metric: (name, labels = {}) => readMetric(meters, name, labels),
  };
}

const nothingServed: ServingState = {
  file: 'made-up.yaml',
  hash: '0000000000000000',
  generation: 1,
  startedMs: 0,
  servingSinceMs: 0,
  draining: 0,
  lastReload: undefined,
};

const nothingLoaded: PipelineDescription = {
  file: 'made-up.yaml',
  startedMs: 0,
  stages: [],
  endpoints: [],
  services: [],
  sections: [],
};

function capturingLogger(records: CapturedRecord[]): Logger {
  const at =
    (level: CapturedRecord['level']) =>
    (body: string, fields: LogFields = {}): void => {
      records.push({ level, body, fields });
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
