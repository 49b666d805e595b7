import { randomUUID } from 'node:crypto';
import type { Caller } from '../base/caller.js';
import { Trace } from '../base/trace.js';
import { createExchange, type Exchange } from '../kernel/plugin/exchange.js';
import type { Answer } from '../wire/answer/types.js';
import { headerNames } from '../wire/routes-table.js';
import type { Pipeline } from '../kernel/pipeline/types.js';
import type { Logger } from '../base/logger.js';
import type { Clock } from '../base/clock.js';
import type { Host, PipelineDescription } from '../kernel/plugin/host.js';
import { apiError } from '../base/errors/table.js';
import { untilAborted } from '../base/errors/until-aborted.js';
import { openEdge, type Edge } from '../http/edge.js';
import type { Urls } from '../http/listener.js';
import { createLimits } from '../wire/limits/limits.js';
import { memoryMetrics, MemoryPool } from '../base/memory/pool.js';
import { createShared } from '../kernel/plugin/shared.js';
import { NameLearner } from '../victoria/names/name-learner.js';
import type { Measurements } from '../kernel/telemetry/added-up.js';
import { RequestMetrics } from '../kernel/telemetry/core-metrics.js';
import { LogWriter, type LogDestination } from '../kernel/telemetry/log-writer.js';
import { createLoggers, lostLinesRecord, type LoggerFactory } from '../kernel/telemetry/logger.js';
import { MeterRegistry } from '../kernel/telemetry/meters.js';
import {
  connectionMetrics,
  fastLaneMetrics,
  logMetrics,
  otlpMetrics,
  requestMetrics,
  workerMetrics,
} from '../kernel/telemetry/metrics-table.js';
import { createOtlpPush, otlpComponent } from '../kernel/telemetry/otlp/push.js';
import { ProcReader } from '../kernel/telemetry/proc/reader.js';
import { registerProcessMetrics } from '../kernel/telemetry/process-metrics.js';
import { RequestLog } from '../kernel/telemetry/request-log.js';
import type { RequestObserver } from '../kernel/telemetry/request-record.js';
import { buildPlugins, type HostFor } from '../kernel/build.js';
import { composeChain } from '../kernel/chain.js';
import { Strain } from '../base/admission/strain.js';
import { systemClock } from '../kernel/clock.js';
import { createDescriber } from '../kernel/describe.js';
import { Units } from '../kernel/lifecycle.js';
import { StageMeter } from '../kernel/stage-meter.js';
import { alone, type Joined, type Workers } from '../workers/workers.js';
import { AllWorkers, purgeTopic } from './all-workers.js';
import { exposeTopic, measurementsTopic } from './worker-topics.js';
import { LiveNames } from './live-names.js';

/** What a caller, such as a test, may replace. */
export interface StartOptions {
  readonly clock?: Clock;
  /** Where names that the backend stores are kept; its own unless given. */
  readonly learner?: NameLearner;
  /** Told of every request, beside the request log and the metrics. */
  readonly observer?: RequestObserver;
  /** Destination of log records; default stdout. */
  readonly logTo?: LogDestination;
  /** The other processes that serve with this one; none unless given. */
  readonly workers?: Joined;
  /** Cancels the start: what has started is stopped, and the start rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** A running proxy. */
export interface RunningProxy {
  readonly urls: Urls;
  /** SIGHUP: every plugin reloads what may have changed. */
  reload(): Promise<void>;
  /** Stops accepting, drains within `-drain-timeout`, stops every plugin. May be called more than once. */
  close(): Promise<void>;
  /** Logs an uncaught error synchronously, because the process is about to end. */
  logDefect(error: Error): void;
}

/** Creates and starts the plugins of a pipeline. An Error names the plugin or flag that failed; nothing stays open then. */
export async function startProxy(pipeline: Pipeline, options: StartOptions = {}): Promise<RunningProxy> {
  const clock = options.clock ?? systemClock;
  const { telemetry } = pipeline;
  const joined = options.workers;
  const workers = joined ?? alone(clock);
  const metering = createMetering(pipeline, clock, joined);
  const writer = createLogWriter(
    options.logTo ?? process.stdout,
    telemetry.logBuffered,
    metering.registry,
    joined,
  );
  const loggers = createLoggers(
    telemetry.logLevel,
    writer,
    joined === undefined ? {} : { 'worker.id': joined.id },
  );
  const log = loggers.component('proxy');
  // Of several processes the first one tells what it cannot read.
  if (joined === undefined) await metering.proc.start(log);
  const requestLog = new RequestLog(log, telemetry, clock);
  // Workers leave it to the first process, which pushes the metrics of all.
  const push =
    joined === undefined
      ? createOtlpPush(telemetry, {
          measurements: () => metering.measurements(),
          meters: metering.registry.create(otlpMetrics),
          log: loggers.component(otlpComponent),
          clock,
        })
      : undefined;
  const stageMeters = new Map<string, StageMeter>();
  const { registry } = metering;
  const names = new LiveNames(pipeline);
  let serve: (ask: Host['ask']) => void = () => undefined;
  const serving = new Promise<Host['ask']>((resolve) => (serve = resolve));
  const house: House & { units: Units } = {
    names,
    ask: async (request, asker) => (await untilAborted(serving, asker.signal))(request, asker),
    units: new Units([], log),
    workers,
    all: new AllWorkers(workers, () => house.units),
    learner: options.learner ?? new NameLearner(clock),
    observers: [requestLog, metering.requests, ...(options.observer === undefined ? [] : [options.observer])],
    describe: createDescriber(pipeline, () => names.options, {
      registry,
      stageMeters,
      startedMs: clock.nowMs(),
    }),
  };
  const hostFor = createHostFor(pipeline, clock, loggers, metering, house);
  const built = buildPlugins(pipeline, hostFor, (id) => {
    const meter = new StageMeter(clock);
    stageMeters.set(id, meter);
    return meter;
  });
  house.units = new Units(built.units, log);
  const run = composeChain(built.links);
  const memory = new MemoryPool({
    maxQueryBytes: pipeline.limits.maxQueryMemory,
    meters: registry.create(memoryMetrics),
  });
  await house.units.start(pipeline.server.startTimeout, options.signal);
  await joinOthers(joined, house.units, { log, registry });
  let edge: Edge;
  try {
    edge = await openEdge({
      server: pipeline.server,
      telemetry,
      handlers: built.handlers,
      routes: built.routes,
      upgrades: built.upgrades,
      run,
      memory,
      observer: observeAll(house.observers),
      meters: registry.create({ ...connectionMetrics, ...fastLaneMetrics }),
      log,
      clock,
      workerSocket: joined?.sockets?.paths[joined.id - 1],
    });
  } catch (error) {
    await house.units.stop();
    writer.flush();
    throw error;
  }
  serve(backgroundAsk(run, memory));
  requestLog.start();
  push?.start();
  if (joined === undefined) log.info('serving', { 'pipeline.file': pipeline.file, ...edge.urls });
  else log.info('worker serving', { 'process.pid': process.pid, ...edge.urls });
  const close = async (): Promise<void> => {
    await edge.close();
    await house.units.stop();
    requestLog.stop();
    await push?.stop();
    log.info('stopped');
    writer.flush();
  };
  let closing: Promise<void> | undefined;
  return {
    urls: edge.urls,
    reload: async () => {
      await reloadNames(house, log);
      await house.units.reload();
    },
    close: () => (closing ??= close()),
    logDefect: (error) => {
      log.error('ending: nothing caught this error', { error });
      writer.flushSync();
    },
  };
}

/** From here on the worker is one of several. */
async function joinOthers(
  joined: Joined | undefined,
  units: Units,
  { log, registry }: { readonly log: Logger; readonly registry: MeterRegistry },
): Promise<void> {
  if (joined === undefined) return;
  const { worker_unanswered_total } = workerMetrics;
  const { worker_unanswered_total: unanswered } = registry.create({ worker_unanswered_total });
  joined.onMissing = (topic, missing) => {
    unanswered.add(missing.length, { topic });
    log.warn('workers gave no answer and are left out', { topic, 'workers.missing': missing });
  };
  const missed = await joined.join();
  if (missed.includes(purgeTopic.name)) await units.purge('all');
}

async function reloadNames({ names, learner, all }: House, log: Logger): Promise<void> {
  try {
    if (!(await names.reload())) return;
  } catch (error) {
    log.warn('field mapping not reloaded, the old one stays', { error });
    return;
  }
  log.info('field mapping reloaded', { 'field_mapping.entries': names.options.fieldMapping.length });
  learner.clear();
  await all.purge('answers');
}

function createLogWriter(
  destination: LogDestination,
  isBuffered: boolean,
  registry: MeterRegistry,
  joined: Joined | undefined,
): LogWriter {
  const { log_records_lost_total: lost } = registry.create(logMetrics);
  return new LogWriter(destination, {
    isBuffered,
    isShared: joined !== undefined,
    lostLine: lostLinesRecord,
    onLost: (count, reason) => lost.add(count, { reason }),
  });
}

/** What plugins reach through their host, created after the hosts. */
interface House {
  readonly names: LiveNames;
  readonly units: Units;
  readonly workers: Workers;
  readonly all: AllWorkers;
  readonly learner: NameLearner;
  readonly ask: Host['ask'];
  readonly observers: RequestObserver[];
  readonly describe: () => Promise<PipelineDescription>;
}

interface Metering {
  readonly registry: MeterRegistry;
  readonly proc: ProcReader;
  readonly requests: RequestMetrics;
  expose(): Promise<{ readonly contentType: string; readonly text: string }>;
  /** What this process has measured so far. */
  measurements(): Promise<Measurements>;
}

function createMetering({ telemetry }: Pipeline, clock: Clock, joined: Joined | undefined): Metering {
  const registry = new MeterRegistry();
  const proc = new ProcReader(telemetry);
  registerProcessMetrics(registry.registry, proc);
  const requests = new RequestMetrics(registry.create(requestMetrics), telemetry, clock);
  const { metricsMaxConcurrency } = telemetry;
  const collect = (): Promise<void> => {
    requests.collect();
    return proc.read();
  };
  const measurements = async (): Promise<Measurements> => {
    await collect();
    return registry.measurements();
  };
  joined?.answer(measurementsTopic, measurements);
  let running = 0;
  const expose = async (): ReturnType<MeterRegistry['expose']> => {
    if (metricsMaxConcurrency > 0 && running >= metricsMaxConcurrency) throw apiError('scrapeBusy', {});
    running += 1;
    try {
      if (joined !== undefined) return await joined.askFirst(exposeTopic, null);
      await collect();
      return await registry.expose();
    } finally {
      running -= 1;
    }
  };
  return { registry, proc, requests, expose, measurements };
}

function createHostFor(
  pipeline: Pipeline,
  clock: Clock,
  loggers: LoggerFactory,
  metering: Metering,
  house: House,
): HostFor {
  const limits = createLimits({
    ...pipeline.limits,
    requestTimeout: pipeline.server.httpWriteTimeout,
    tenantLimitsAllowPublish: pipeline.limits.tenantLimitsAllowPublish ?? [],
  });
  const strain = new Strain(() => clock.monotonicMs());
  const shared = createShared();
  return (pluginId, metrics, component) => ({
    pluginId,
    log: loggers.component(component),
    logAs: (part) => loggers.component(part),
    meters: metering.registry.create(metrics),
    get naming() {
      return house.names.naming;
    },
    learner: house.learner,
    limits,
    purge: (scope, tenantId) => house.all.purge(scope, tenantId),
    purgeHere: (scope, tenantId) => house.units.purge(scope, tenantId),
    ask: (request, asker) => house.ask(request, asker),
    readiness: () => house.all.readiness(),
    exposeMetrics: () => metering.expose(),
    describePipeline: () => house.describe(),
    observeRequests: (observer) => house.observers.push(harmless(observer, loggers.component(pluginId))),
    strain: strain.view(pluginId),
    workers: house.workers,
    clock,
    shared,
  });
}

function backgroundAsk(run: (exchange: Exchange) => Promise<Answer>, pool: MemoryPool): Host['ask'] {
  return async (request, { orgId, signal }) => {
    const caller: Caller = {
      method: 'GET',
      address: 'background',
      headers: new Map(orgId === undefined ? [] : [[headerNames.tenant[0], orgId]]),
      orgId,
      categorizeLabels: false,
      isDrilldown: false,
      isBackground: true,
    };
    const memory = pool.open();
    try {
      const trace = new Trace();
      return await run(
        createExchange({ id: randomUUID(), request, caller, signal, trace, memory, isFinal: false }),
      );
    } finally {
      memory.close();
    }
  };
}

function observeAll(observers: readonly RequestObserver[]): RequestObserver {
  return {
    started: (record) => {
      for (const observer of observers) observer.started(record);
    },
    finished: (record, status, durationMs) => {
      for (const observer of observers) observer.finished(record, status, durationMs);
    },
  };
}

/** Wraps a plugin's observer: its errors are logged and do not affect requests. */
function harmless(observer: RequestObserver, log: Logger): RequestObserver {
  const failed = (error: unknown): void => log.error('observer of requests failed', { error });
  return {
    started: (record) => {
      try {
        observer.started(record);
      } catch (error) {
        failed(error);
      }
    },
    finished: (record, status, durationMs) => {
      try {
        observer.finished(record, status, durationMs);
      } catch (error) {
        failed(error);
      }
    },
  };
}
