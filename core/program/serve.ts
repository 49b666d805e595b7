import cluster from 'node:cluster';
import { setFlagsFromString } from 'node:v8';
import { heapGrowth } from '../base/memory/heap-growth.js';
import { startProxy, type RunningProxy, type StartOptions } from './start-proxy.js';
import { secretsIn } from '../kernel/describe.js';
import { endOnDefect } from '../kernel/uncaught.js';
import {
  definitionsOf,
  readBuiltInSchemas,
  shippedPipeline,
  type CommandFlag,
} from '../kernel/options/index.js';
import { optionValues } from '../kernel/options/describe.js';
import { loadPipeline, packageBuiltIns } from '../kernel/pipeline/index.js';
import type { LoadedPlugin, Pipeline, Reread } from '../kernel/pipeline/types.js';
import type { Plugin } from '../kernel/plugin/contract.js';
import { thisMachine } from '../kernel/check/surroundings.js';
import { servingHelp, takeHelpAll } from './help.js';
import type { Io } from './io.js';
import { refuseProblems, serveFlags } from './own-flags.js';
import { printFindings } from './findings.js';
import { readServingLine } from './site-flags.js';
import { runWorkers, workersOf } from './first-process.js';
import { drainTopic, servingTopic } from './worker-topics.js';
import { runUntilSignal } from './until-signal.js';
import { pipelineIdentity, joinFirstProcess, workerSlot, type WorkerSlot } from './worker-process.js';
import { watching } from './reload/watch.js';
import { runInNewContext } from 'node:vm';
import { startTimer } from '../base/time/waits.js';

/** Runs the proxy. */
export function serve(args: readonly string[], io: Io): Promise<number> {
  heapGrowth.takeOver();
  return servePipeline(args, io, { name: 'serve', pipeline: 'reference-compatible.yaml' }, () => undefined);
}

/** Flags of the program itself, in addition to the options of the pipeline file. */
const ownFlags: readonly CommandFlag[] = [
  ...serveFlags,
  { name: 'help', kind: 'boolean', description: 'show the flags; -help=all shows every one' },
];

/** A command that runs a pipeline, with its default pipeline. */
interface ServingCommand {
  readonly name: string;
  /** A file in pipelines/. */
  readonly pipeline: string;
}

/** Loads the pipeline that the command line names, starts and announces it, and waits for a signal. */
export async function servePipeline(
  args: readonly string[],
  io: Io,
  command: ServingCommand,
  onStarted: (proxy: RunningProxy, pipeline: Pipeline) => void,
): Promise<number> {
  try {
    return await loadAndServe(args, io, command, onStarted);
  } finally {
    // The channel to the first process would keep a worker alive.
    cluster.worker?.disconnect();
  }
}

async function loadAndServe(
  given: readonly string[],
  io: Io,
  command: ServingCommand,
  onStarted: (proxy: RunningProxy, pipeline: Pipeline) => void,
): Promise<number> {
  const { args, isAll } = takeHelpAll(given);
  const byDefault = shippedPipeline(command.pipeline);
  const { line, file, definitions } = await readServingLine(args, ownFlags, io.env, byDefault);
  if (line.own.get('help') === 'true') {
    io.out(await servingHelp(definitions, command.name, ownFlags, isAll));
    return 0;
  }
  refuseProblems(line);
  const slot = workerSlot();
  const { pipeline, findings } = await loadPipeline(
    file,
    { flags: line.flags, env: io.env, readsSecrets: true },
    packageBuiltIns(),
    // The first process has already checked the machine, and its listeners occupy the ports.
    slot === undefined ? thisMachine : undefined,
  );
  if (pipeline === undefined) {
    await printFindings(findings, io);
    return 1;
  }
  if (slot !== undefined) return serveAsWorker(pipeline, slot, io);
  const workers = workersOf(pipeline.server);
  const isWatched = line.own.get('pipeline.watch') === 'true';
  if (workers > 1) return runWorkers(pipeline, workers, { isWatched, findings });
  return runUntilSignal(async (signal) => {
    const proxy = await start(pipeline, { signal, findings });
    endOnDefect(proxy);
    onStarted(proxy, pipeline);
    return isWatched ? watching(proxy, () => proxy.pipeline.files ?? []) : proxy;
  });
}

/** Starts a proxy. Errors are reported without the secrets of its options. */
async function start(pipeline: Pipeline, options: StartOptions): Promise<RunningProxy> {
  try {
    const proxy = await startProxy(pipeline, options);
    giveBackLater(() => proxy.answering);
    return proxy;
  } catch (error) {
    const message = error instanceof Error ? error.message : 'failed';
    throw new Error(secretsIn(pipeline).hide(message), { cause: error });
  }
}

/** Serves as one of several workers that the first process has started. */
async function serveAsWorker(pipeline: Pipeline, slot: WorkerSlot, io: Io): Promise<number> {
  if (pipelineIdentity(pipeline) !== slot.identity) {
    io.err(
      `ref-proxy: ${pipeline.file} has changed since startup, so worker ${slot.id} would differ from the others: restart ref-proxy\n`,
    );
    return 1;
  }
  const { joined, channel } = joinFirstProcess(slot);
  return runUntilSignal(async (signal) => {
    const proxy = await start(withOwnFiles(pipeline, slot.id), { signal, workers: joined });
    endOnDefect(proxy);
    const drained = new AbortController();
    channel.answer(drainTopic, () => drained.abort());
    await channel.ask(servingTopic, proxy.urls, pipeline.server.startTimeout);
    return {
      reload: () => proxy.reload(),
      leave: (hurry) => proxy.leave(AbortSignal.any([hurry, drained.signal])),
      close: () => proxy.close(),
    };
  });
}

/** The only kind of collection in V8 that returns memory to the system. */
const lastResort = { type: 'major', execution: 'sync', flavor: 'last-resort' } as const;

/**
 * Frees the garbage of loading and compiling: on Node.js 22 and later some 40 MB, most of it a nursery that has grown for it. It takes 0.1
 * s and is meant for an idle process; under load the nursery grows again. Older releases have no such collection.
 */
export function giveBackMemory(): void {
  if (Number(process.versions.node.split('.')[0]) < 22) return;
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  if (typeof collect === 'function') Reflect.apply(collect, undefined, [lastResort]);
}

/** Time after the start by which waiting clients have sent their first requests. */
const laterMs = 3_000;

/** Frees memory once the process has begun to serve and no request is in flight. Returns a function that cancels it. */
export function giveBackLater(
  answering: () => number,
  delayMs = laterMs,
  giveBack: () => unknown = giveBackMemory,
): () => void {
  const look = (): void => {
    if (answering() > 0) timer.refresh();
    else giveBack();
  };
  const timer = startTimer(look, delayMs).unref();
  return () => {
    clearTimeout(timer);
  };
}

/** The pipeline with separate files for each worker but the first, where a process persists something: `<path>.worker-<id>`. */
function withOwnFiles(pipeline: Pipeline, id: number): Pipeline {
  if (id === 1) return pipeline;
  const schemas = readBuiltInSchemas();
  const withOwn = <Kind extends Plugin>(loaded: LoadedPlugin<Kind>): LoadedPlugin<Kind> => {
    const own = definitionsOf(loaded.use, schemas.get(loaded.use) ?? {})
      .filter(({ fileUse }) => fileUse === 'write')
      .flatMap(({ key }) => {
        const path = optionValues(loaded.options).get(key);
        return typeof path === 'string' && path !== '' ? [[key, `${path}.worker-${id}`] as const] : [];
      });
    return own.length === 0
      ? loaded
      : { ...loaded, options: { ...Object(loaded.options), ...Object.fromEntries(own) } };
  };
  const { reread } = pipeline;
  return {
    ...pipeline,
    stages: pipeline.stages.map(withOwn),
    endpoints: pipeline.endpoints.map(withOwn),
    services: pipeline.services.map(withOwn),
    ...(reread === undefined ? {} : { reread: async () => owned(await reread(), id) }),
  };
}

function owned({ pipeline, findings }: Reread, id: number): Reread {
  return pipeline === undefined ? { findings } : { pipeline: withOwnFiles(pipeline, id), findings };
}
