/**
 * The first of several processes (`-workers`). It serves no requests itself: it starts the workers, which share its listeners, replaces
 * those that die, forwards signals to them, and relays requests between them.
 */
import cluster, { type Worker } from 'node:cluster';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Urls } from '../http/listener.js';
import { secretsIn } from '../kernel/describe.js';
import { systemClock } from '../kernel/plugin/exchange.js';
import type { Finding, Pipeline } from '../kernel/pipeline/index.js';
import { logFindings } from './findings.js';
import type { Logger } from '../base/logger.js';
import type { Meters } from '../base/meters.js';
import { AddedUp } from '../kernel/telemetry/added-up.js';
import { expose } from '../kernel/telemetry/exposition.js';
import { createLogging, type LoggerFactory, type LogWriter } from '../kernel/telemetry/logger.js';
import { MeterRegistry } from '../kernel/telemetry/meters.js';
import { workerMetrics } from '../kernel/telemetry/metrics-table.js';
import { createOtlpPush, type OtlpPush } from '../kernel/telemetry/otlp/push.js';
import { ProcReader } from '../kernel/telemetry/proc/reader.js';
import { registerProcessMetrics } from '../kernel/telemetry/process-metrics.js';
import type { Measurements } from '../kernel/telemetry/series.js';
import { Hub } from '../workers/hub.js';
import type { Channel, Message } from '../workers/channel.js';
import type { WorkerSockets } from '../workers/workers.js';
import { execArgvOf } from './heap.js';
import { warnOfNode } from './node-version.js';
import { runUntilSignal } from './until-signal.js';
import {
  drainTopic,
  exposeTopic,
  measurementsTopic,
  reloadAllTopic,
  reloadTopic,
  servingTopic,
} from './worker-topics.js';
import { needsRestart } from './reload/restart-only.js';
import { watching } from './reload/watch.js';
import type { WorkerReload } from '../kernel/plugin/host.js';
import { pipelineIdentity, workerVariable, type WorkerSlot } from './worker-process.js';
import { pause, sleep, startTimer } from '../base/time/waits.js';

/** Number of processes that serve. */
export function workersOf({ workers }: Pipeline['server']): number {
  return workers === 'auto' ? availableParallelism() : Number(workers);
}

/** Timeout for a worker's metrics; a worker that misses it is reported with its last values. */
const measureMs = 5_000;
/** Timeout for workers to reload the file and to start new plugins. */
const reloadBoundMs = 5 * 60_000;
/** Time for plugins to stop, in addition to `-drain-timeout`. */
const stopGraceMs = 20_000;
/** Pause before a worker is replaced; it doubles with each recent death. */
const firstPauseMs = 100;
const maxPauseMs = 10_000;
const maxTries = 5;
const lately = { ms: 5 * 60_000, most: 20 };

/** A worker ended before it served. It has logged the reason itself. */
class NotServing extends Error {
  constructor(
    readonly worker: number,
    readonly status: number,
  ) {
    super(`worker ${worker} ended with ${status}`);
  }
}

interface WorkersSettings {
  readonly isWatched: boolean;
  /** Warnings about the pipeline file, for the log. */
  readonly findings: readonly Finding[];
}

/** Runs a pipeline in several processes until a signal ends them. */
export async function runWorkers(
  pipeline: Pipeline,
  count: number,
  { isWatched, findings }: WorkersSettings,
): Promise<number> {
  const first = new FirstProcess(pipeline, count, findings);
  try {
    return await runUntilSignal(async (signal) => {
      await first.start(signal);
      return isWatched ? watching(first, () => first.files) : first;
    });
  } catch (error) {
    if (error instanceof NotServing) return error.status;
    throw error;
  }
}

/** State of a worker's process. */
interface Running {
  readonly worker: Worker;
  readonly channel: Channel;
  readonly ended: Promise<void>;
  serving: boolean;
}

class FirstProcess {
  #pipeline: Pipeline;
  readonly #count: number;
  readonly #hub: Hub;
  readonly #running = new Map<number, Running>();
  readonly #registry = new MeterRegistry();
  readonly #proc: ProcReader;
  readonly #meters: Meters<typeof workerMetrics>;
  readonly #sums = new AddedUp();
  readonly #writer: LogWriter;
  readonly #loggers: LoggerFactory;
  readonly #log: Logger;
  #push: OtlpPush | undefined;
  #isStopping = false;
  /** True while the workers wait for the end of `-shutdown-delay`. */
  #isLeaving = false;
  #folder: string | undefined;
  #sockets: WorkerSockets | undefined;
  /** Times at which workers died, in milliseconds. */
  #deaths: number[] = [];
  #give: (status: number) => void = () => undefined;
  readonly ended = new Promise<number>((resolve) => (this.#give = resolve));

  constructor(pipeline: Pipeline, count: number, findings: readonly Finding[]) {
    this.#pipeline = pipeline;
    this.#count = count;
    this.#hub = new Hub({ clock: systemClock, workers: count });
    this.#proc = new ProcReader(pipeline.telemetry);
    registerProcessMetrics(this.#registry.registry, this.#proc);
    this.#meters = this.#registry.create(workerMetrics);
    const secrets = secretsIn(pipeline);
    const how = { isBuffered: false, isShared: true };
    const { writer, loggers } = createLogging(
      pipeline.telemetry,
      secrets,
      this.#registry,
      process.stdout,
      how,
    );
    this.#writer = writer;
    this.#loggers = loggers;
    this.#log = loggers.component('proxy');
    logFindings(findings, this.#log);
    // Workers accept connections from the same listener whenever they have time: see docs/fleet.md, Workers.
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    cluster.setupPrimary({ serialization: 'advanced', execArgv: [...execArgvOf(count)] });
  }

  /** Starts the first worker and then the others, so that a common error is reported once. */
  async start(signal: AbortSignal): Promise<this> {
    const onAbort = (): void => void this.close();
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      const [registry, loggers] = [this.#registry, this.#loggers];
      const measurements = (): Promise<Measurements> => this.#measurements();
      const needs = { registry, loggers, clock: systemClock, measurements };
      this.#push = createOtlpPush(this.#pipeline.telemetry, needs);
      warnOfNode(this.#log);
      await this.#proc.start(this.#log);
      await this.#makeSockets();
      const urls = await this.#run(1);
      const others = Array.from({ length: this.#count - 1 }, (_, index) => index + 2);
      await Promise.all(others.map((id) => this.#run(id)));
      this.#log.info('serving', {
        'pipeline.file': this.#pipeline.file,
        'workers.count': this.#count,
        ...urls,
      });
      this.#push?.start();
      return this;
    } catch (error) {
      await this.close();
      throw error;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  get files(): readonly string[] {
    return this.#pipeline.files ?? [];
  }

  /** Makes all workers reload the pipeline file. A worker that starts later reads the file that they serve by then. */
  async reload(): Promise<readonly WorkerReload[]> {
    const read = await this.#pipeline.reread?.();
    // Workers reject changes that need a restart, so new workers also keep the old configuration.
    if (read?.pipeline !== undefined && needsRestart(this.#pipeline, read.pipeline).length === 0)
      this.#pipeline = read.pipeline;
    // A worker that does not serve yet reads the file anyway.
    const serving = [...this.#running].filter(([, running]) => running.serving);
    return Promise.all(
      serving.map(async ([worker, { channel }]): Promise<WorkerReload> => {
        try {
          return { worker, report: await channel.ask(reloadTopic, null, reloadBoundMs) };
        } catch (error) {
          return { worker, missing: error instanceof Error ? error.message : 'failed' };
        }
      }),
    );
  }

  async leave(hurry: AbortSignal): Promise<void> {
    const { shutdownDelay } = this.#pipeline.server;
    if (shutdownDelay === 0) return;
    this.#isLeaving = true;
    this.#stopWorkers();
    await pause(shutdownDelay, hurry);
  }

  async close(): Promise<void> {
    // Collects the workers' metrics before they end.
    const pushed = this.#push?.stop();
    const running = [...this.#running.values()];
    if (!this.#isLeaving) this.#stopWorkers();
    for (const { channel } of running) channel.tell(drainTopic, null);
    const boundMs = this.#pipeline.server.drainTimeout + stopGraceMs;
    const overdue = startTimer(() => {
      for (const { worker } of running) worker.process.kill('SIGKILL');
    }, boundMs);
    await Promise.all(running.map(({ ended }) => ended));
    clearTimeout(overdue);
    await pushed;
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true });
    this.#log.info('stopped');
    this.#writer.flush();
  }

  #stopWorkers(): void {
    this.#isStopping = true;
    for (const { worker } of this.#running.values()) worker.process.kill('SIGTERM');
  }

  /** Makes a folder, accessible only to this user, for the sockets through which workers share answers. */
  async #makeSockets(): Promise<void> {
    try {
      const { dataDir } = this.#pipeline.server;
      const folder = await mkdtemp(join(dataDir === '' ? tmpdir() : resolve(dataDir), 'ref-proxy-'));
      this.#folder = folder;
      const paths = Array.from({ length: this.#count }, (_, index) => join(folder, `worker-${index + 1}`));
      this.#sockets = { paths, token: randomBytes(32).toString('hex') };
    } catch (error) {
      this.#log.warn(
        'workers do not share their caches: cannot create a directory for their sockets; check -data-dir or TMPDIR',
        {
          error,
        },
      );
    }
  }

  /** Starts a worker; resolves when it serves. */
  #run(id: number): Promise<Urls> {
    const slot: WorkerSlot = {
      id,
      count: this.#count,
      identity: pipelineIdentity(this.#pipeline),
      sockets: this.#sockets,
    };
    // npm watches this process, not the workers.
    const worker = cluster.fork({ [workerVariable]: JSON.stringify(slot), REF_PROXY_PARENT: '' });
    const channel = this.#hub.connect(id, (message) => {
      if (!worker.isConnected()) return false;
      worker.send(message, () => undefined);
      return true;
    });
    worker.on('message', (message: Message) => channel.receive(message));
    // An error of the channel is followed by the end of the process.
    worker.on('error', () => undefined);
    channel.answer(exposeTopic, async () => expose(await this.#measurements()));
    channel.answer(reloadAllTopic, () => this.reload());
    return new Promise((resolve, reject) => {
      const ended = once(worker, 'exit').then(([code, signal]) => {
        const { serving } = running;
        this.#gone(id, running);
        const status = typeof code === 'number' && code !== 0 ? code : 1;
        if (!serving) reject(new NotServing(id, status));
        else if (!this.#isStopping) void this.#replace(id, { code, signal, pid: worker.process.pid });
      });
      const running: Running = { worker, channel, ended, serving: false };
      this.#running.set(id, running);
      channel.answer(servingTopic, (urls) => {
        running.serving = true;
        this.#countServing();
        resolve(urls);
      });
    });
  }

  #gone(id: number, running: Running): void {
    if (this.#running.get(id) === running) this.#running.delete(id);
    this.#hub.disconnect(id, running.channel);
    this.#sums.ended(id);
    this.#countServing();
  }

  #countServing(): void {
    const serving = [...this.#running.values()].filter((running) => running.serving);
    this.#meters.workers.set(serving.length, {});
  }

  /** Replaces a worker that died; stops everything when that happens too often. */
  async #replace(id: number, how: Readonly<Record<string, unknown>>): Promise<void> {
    // A failed start is retried a few times: its cause may be temporary, such as an unreachable backend.
    for (let tries = 0; ; tries += 1) {
      const nowMs = systemClock.monotonicMs();
      this.#deaths = [...this.#deaths.filter((ms) => nowMs - ms < lately.ms), nowMs];
      const { length } = this.#deaths;
      const fields = { 'worker.id': id, 'worker.exit': how };
      if (length > lately.most || tries >= maxTries) {
        this.#log.error('shutting down: workers crash repeatedly', { ...fields, 'workers.deaths': length });
        this.#give(1);
        return;
      }
      const pauseMs = Math.min(maxPauseMs, firstPauseMs * 2 ** (length - 1));
      this.#meters.worker_restarts_total.add(1, {});
      this.#log.error('a worker exited; starting a replacement', { ...fields, 'worker.pause_ms': pauseMs });
      await sleep(pauseMs);
      try {
        if (!this.#isStopping) await this.#run(id);
        return;
      } catch (error) {
        if (this.#isStopping) return;
        how = { status: error instanceof NotServing ? error.status : 1 };
      }
    }
  }

  /** The metrics of all workers and of this process. */
  async #measurements(): Promise<Measurements> {
    const asked = { topic: measurementsTopic.name, asked: null, boundMs: measureMs, isOwed: false };
    const { answers, missing } = await this.#hub.gather(asked);
    for (const { worker, answer } of answers)
      // The topic implies the type of its answers.
      if (this.#running.has(worker)) this.#sums.update(worker, answer as Measurements);
    if (missing.length > 0)
      this.#meters.worker_unanswered_total.add(missing.length, { topic: measurementsTopic.name });
    await this.#proc.read();
    return this.#sums.measurements(await this.#registry.measurements());
  }
}
