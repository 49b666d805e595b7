import { randomUUID } from 'node:crypto';
import type { Caller } from '../base/caller.js';
import { Trace } from '../base/trace.js';
import { createExchange, type Exchange, SharedValues, systemClock } from '../kernel/plugin/exchange.js';
import type { Answer } from '../wire/answer/types.js';
import { headerNames } from '../wire/routes-table.js';
import type { Finding, Pipeline } from '../kernel/pipeline/types.js';
import { logFindings } from './findings.js';
import type { Logger } from '../base/logger.js';
import type { Clock } from '../base/clock.js';
import type { Host, ReloadReport, ServingState } from '../kernel/plugin/host.js';
import { pause, untilAborted } from '../base/time/waits.js';
import { Edge } from '../http/edge.js';
import { Lives } from '../kernel/plugin/life.js';
import { Generation, type GenerationDeps } from './reload/generation.js';
import { Succession } from './reload/succession.js';
import { WorkerTopics } from './reload/worker-topics.js';
import type { Uncaught } from '../kernel/uncaught.js';
import { Shortages } from '../kernel/telemetry/shortages.js';
import type { Urls } from '../http/listener.js';
import { memoryMetrics, MemoryPool } from '../base/memory/account.js';
import { ofKey } from '../base/memory/byte-lru.js';
import { NameLearner } from '../victoria/names/name-learner.js';
import {
  createLogging,
  harmless,
  type LogDestination,
  type LoggerFactory,
} from '../kernel/telemetry/logger.js';
import type { MeterRegistry } from '../kernel/telemetry/meters.js';
import {
  connectionMetrics,
  fastLaneMetrics,
  reloadMetrics,
  shortageMetrics,
  traceMetrics,
  workerMetrics,
} from '../kernel/telemetry/metrics-table.js';
import { createOtlpPush } from '../kernel/telemetry/otlp/push.js';
import type { TelemetryOptions } from '../base/options.gen.js';
import type { Traces } from '../kernel/telemetry/traces.js';
import { RequestLog, type RequestObserver } from '../kernel/telemetry/request-log.js';
import { Strain } from '../base/admission/strain.js';
import { secretsIn } from '../kernel/describe.js';
import { StageMeter } from '../kernel/stage-meter.js';
import { alone, type Joined, type Workers } from '../workers/workers.js';
import { acrossWorkers, purgeTopic } from './all-workers.js';
import { warnOfNode } from './node-version.js';
import { memoryFields, warnOfHeap } from './heap.js';
import { createMetering } from './metering.js';
import { reloadAllTopic, reloadTopic } from './worker-topics.js';

/** Dependencies that a caller, such as a test, may replace. */
export interface StartOptions {
  readonly clock?: Clock;
  /** Names that the backend stores; a new learner by default. */
  readonly learner?: NameLearner;
  /** Notified of every request, in addition to the request log and the metrics. */
  readonly observer?: RequestObserver;
  /** Warnings about the pipeline file, for the log. */
  readonly findings?: readonly Finding[];
  /** Destination of log records; default stdout. */
  readonly logTo?: LogDestination;
  /** The other processes that serve with this one; none by default. */
  readonly workers?: Joined;
  /** Cancels the start: whatever has started is stopped, and the start rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

export interface RunningProxy extends Uncaught {
  readonly urls: Urls;
  /** State of the pipeline that it serves. */
  readonly state: ServingState;
  /** The pipeline that serves now. */
  readonly pipeline: Pipeline;
  /** Number of client requests in flight. */
  readonly answering: number;
  /** Reads the pipeline file again, on SIGHUP, and lets every plugin reload what may have changed. Never rejects. */
  reload(): Promise<ReloadReport>;
  /**
   * Reports not ready from now on, and asks clients to close their connections. Resolves after `-shutdown-delay`, or at once if the signal
   * is aborted.
   */
  leave(hurry: AbortSignal): Promise<void>;
  /** Stops accepting, drains within `-drain-timeout`, stops every plugin. May be called more than once. */
  close(): Promise<void>;
}

/** Creates and starts the plugins of a pipeline. An Error names the plugin or flag that failed; nothing stays open then. */
export async function startProxy(pipeline: Pipeline, options: StartOptions = {}): Promise<RunningProxy> {
  const clock = options.clock ?? systemClock;
  const { telemetry } = pipeline;
  const joined = options.workers;
  const workers = joined ?? alone(clock);
  const metering = createMetering(pipeline, clock, joined);
  const { registry } = metering;
  const secrets = secretsIn(pipeline);
  const { writer, loggers } = createLogging(telemetry, secrets, registry, options.logTo ?? process.stdout, {
    isBuffered: telemetry.logBuffered,
    isShared: joined !== undefined,
    fields: { 'worker.id': joined?.id },
  });
  const log = loggers.component('proxy');
  logFindings(options.findings ?? [], log);
  // With several processes, the first one reports what it cannot read.
  if (joined === undefined) {
    warnOfNode(log);
    warnOfHeap(log);
    await metering.proc.start(log);
  } else await metering.proc.read();
  const requestLog = new RequestLog(log, telemetry, clock);
  // Workers leave pushing to the first process, which pushes the metrics of all.
  const push =
    joined === undefined
      ? createOtlpPush(telemetry, { registry, loggers, clock, measurements: metering.measurements })
      : undefined;
  const traces = await loadTraces(telemetry, registry, loggers);
  const startedMs = clock.nowMs();
  const stageMeters = new Map<string, StageMeter>();
  const lives = new Lives();
  let serve: (succession: Succession) => void = () => undefined;
  const serving = new Promise<Succession>((resolve) => (serve = resolve));
  let first: Generation | undefined;
  let succession: Succession | undefined;
  const current = (): Generation => {
    const generation = succession?.current ?? first;
    if (generation === undefined) throw new Error('a plugin used its pipeline before it was built');
    return generation;
  };
  const memory = new MemoryPool({
    maxQueryBytes: pipeline.limits.maxQueryMemory,
    meters: registry.create(memoryMetrics),
  });
  let isStopping = false;
  const all = acrossWorkers(workers, {
    lives,
    units: () => current().units,
    isStopping: () => isStopping,
    log,
  });
  const reload = async (): Promise<ReloadReport> => (await serving).reload();
  joined?.answer(reloadTopic, reload);
  const services: ProcessServices = {
    clock,
    ...all,
    exposeMetrics: metering.expose,
    ask: async (request, asker) => {
      const begun = await untilAborted(serving, asker.signal);
      return backgroundAsk(begun.current.chain.run, memory)(request, asker);
    },
    describePipeline: () => current().describer.describe(),
    reload: async () => {
      if (joined === undefined) return [{ worker: 1, report: await reload() }];
      return joined.askFirst(reloadAllTopic, null, reloadBoundMs);
    },
    serving: () => {
      if (succession === undefined) throw new Error('the proxy does not serve yet');
      return succession.state;
    },
  };
  const generations: GenerationDeps = {
    hostFor: createHostFor(services, loggers, registry, workers),
    lives,
    log,
    meterFor: (id) => ofKey(stageMeters, id, () => new StageMeter(clock)),
    describing: { registry, stageMeters, startedMs },
    secrets,
    observers: [
      requestLog,
      metering.requests,
      ...(traces === undefined ? [] : [traces]),
      ...(options.observer === undefined ? [] : [options.observer]),
    ],
  };
  first = new Generation(pipeline, generations, options.learner ?? new NameLearner(clock));
  await first.units.start(pipeline.server.startTimeout, options.signal);
  await joinOthers(joined, all, { log, registry });
  const shortages = new Shortages(log, registry.create(shortageMetrics), clock);
  const edge = new Edge(pipeline.server, {
    meters: registry.create({ ...connectionMetrics, ...fastLaneMetrics }),
    log,
    clock,
    shortages,
    maxOpenFiles: metering.proc.seen.maxOpenFiles,
    workerSocket: joined?.sockets?.paths[joined.id - 1],
    isShared: joined !== undefined,
  });
  try {
    const meters = registry.create(reloadMetrics);
    const onSwap = (): void => forgetMeters(stageMeters, lives);
    succession = await Succession.begin(first, {
      ...generations,
      edge,
      memory,
      clock,
      meters,
      startedMs,
      onSwap,
    });
  } catch (error) {
    await first.end();
    writer.flush();
    throw error;
  }
  const begun = succession;
  // Released, because later generations replace it and it must be collectable after its last request.
  first = undefined;
  serve(begun);
  requestLog.start();
  push?.start();
  const [said, which] =
    joined === undefined
      ? ['serving', { 'pipeline.file': pipeline.file }]
      : ['worker serving', { 'process.pid': process.pid }];
  log.info(said, { ...which, 'pipeline.hash': begun.current.hash, ...memoryFields(), ...edge.urls });
  const close = async (): Promise<void> => {
    begun.closing();
    await edge.close();
    await begun.end();
    requestLog.stop();
    await Promise.all([push?.stop(), traces?.stop()]);
    log.info('stopped');
    writer.flush();
  };
  const leave = async (hurry: AbortSignal): Promise<void> => {
    isStopping = true;
    const delayMs = begun.current.pipeline.server.shutdownDelay;
    if (delayMs === 0) return;
    edge.leave();
    log.info(
      'shutting down: /ready answers 503, and requests are still served until the shutdown delay is over',
      {
        'shutdown.delay_ms': delayMs,
      },
    );
    // A worker is notified by the first process, whose delay is the relevant one.
    await pause(joined === undefined ? delayMs : delayMs + firstProcessGraceMs, hurry);
  };
  let closing: Promise<void> | undefined;
  return {
    get urls() {
      return edge.urls;
    },
    get pipeline() {
      return begun.current.pipeline;
    },
    get answering() {
      return begun.current.serving?.answering ?? 0;
    },
    get state() {
      return begun.state;
    },
    reload: () => begun.reload(),
    leave,
    close: () => (closing ??= close()),
    outlives: (error) => shortages.took(error),
    logDefect: (error) => {
      log.error('shutting down: uncaught error', { error });
      writer.flushSync();
    },
  };
}

/** Additional time for which a worker waits for the first process to end its `-shutdown-delay`. */
const firstProcessGraceMs = 5_000;
/** Timeout for all workers to reload the file. */
const reloadBoundMs = 5 * 60_000;

/** Joins the other workers; from here on the worker is one of several. */
async function joinOthers(
  joined: Joined | undefined,
  { purgeHere }: Pick<Host, 'purgeHere'>,
  { log, registry }: { readonly log: Logger; readonly registry: MeterRegistry },
): Promise<void> {
  if (joined === undefined) return;
  const { worker_unanswered_total } = workerMetrics;
  const { worker_unanswered_total: unanswered } = registry.create({ worker_unanswered_total });
  joined.onMissing = (topic, missing) => {
    unanswered.add(missing.length, { topic });
    log.warn('some workers did not respond and are left out', { topic, 'workers.missing': missing });
  };
  const missed = await joined.join();
  if (missed.includes(purgeTopic.name)) await purgeHere('all');
}

/** Services of the process that plugins reach through their host. */
type ProcessServices = Pick<
  Host,
  | 'clock'
  | 'purge'
  | 'purgeHere'
  | 'readiness'
  | 'exposeMetrics'
  | 'ask'
  | 'describePipeline'
  | 'reload'
  | 'serving'
>;

function createHostFor(
  services: ProcessServices,
  loggers: LoggerFactory,
  registry: MeterRegistry,
  workers: Workers,
): GenerationDeps['hostFor'] {
  const strain = new Strain(() => services.clock.monotonicMs());
  const shared = new SharedValues();
  const topics = new WorkerTopics(workers);
  return (parts) => (pluginId, metrics, component, registered) => {
    const onStop = (work: () => void): void => registered.onStop(work);
    return {
      ...parts,
      ...services,
      pluginId,
      log: loggers.component(component),
      logAs: (part) => loggers.component(part),
      meters: registry.create(metrics, onStop),
      observeRequests: (observer) =>
        registered.observers.push(harmless(observer, loggers.component(pluginId))),
      strain: strain.view(pluginId),
      workers: topics.for(onStop),
      shared: shared.for(onStop),
      onStop,
    };
  };
}

/** Loads tracing, with its libraries, only if it is configured. */
async function loadTraces(
  telemetry: TelemetryOptions,
  registry: MeterRegistry,
  loggers: LoggerFactory,
): Promise<Traces | undefined> {
  const { otlpTracesEndpoint } = telemetry;
  if (otlpTracesEndpoint === undefined) return undefined;
  const { Traces } = await import('../kernel/telemetry/traces.js');
  const needs = { meters: registry.create(traceMetrics), log: loggers.component('otlp_traces') };
  return new Traces({ ...telemetry, otlpTracesEndpoint }, needs);
}

/** Removes the figures of stages that are in no pipeline any more. */
function forgetMeters(meters: Map<string, StageMeter>, lives: Lives): void {
  const ids = lives.ids;
  for (const id of meters.keys()) if (!ids.has(id)) meters.delete(id);
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
