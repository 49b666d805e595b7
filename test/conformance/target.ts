import { startDevBackend } from '../../plugins/embedded-backend/dev-backend.js';
import { startProxy, type RunningProxy } from '../../core/program/start-proxy.js';
import type { Clock } from '../../core/base/clock.js';
import { loadPipeline, type Pipeline } from '../../core/kernel/pipeline/index.js';
import { CapturedLog } from '../../core/testing/index.js';
import { conformanceCorpus, tenantMapOf } from './corpus.js';
import { fillStore } from './load-data.js';

/** A store with the corpus in it. */
export interface Store {
  readonly url: string;
  close(): Promise<void>;
}

/** The embedded backend on a free port, or the one at `url`; with the corpus if `load` is true. */
export async function openStore(
  url: string | undefined,
  load: boolean,
  corpus = conformanceCorpus,
): Promise<Store> {
  if (url !== undefined) {
    if (load) await fillStore(url, corpus);
    return { url, close: () => Promise.resolve() };
  }
  const backend = await startDevBackend();
  try {
    await fillStore(backend.url, corpus);
  } catch (error) {
    await backend.close();
    throw error;
  }
  return backend;
}

/**
 * Starts the default pipeline for a store, with the settings of the corpus; `without` names stages to leave out, `more` adds flags,
 * `change` is applied last, `file` names another pipeline.
 */
export async function openProxy(
  store: Store,
  without: readonly string[] = [],
  more: Iterable<readonly [flag: string, value: string]> = [],
  clock?: Clock,
  change: (pipeline: Pipeline) => Pipeline = (pipeline) => pipeline,
  file = 'pipelines/reference-compatible.yaml',
): Promise<RunningProxy> {
  const flags = new Map([
    ['backend', store.url],
    ['tenant-map', tenantMapOf(conformanceCorpus)],
    ['rate-limit-per-second', '0'],
    ['listen', '127.0.0.1:0'],
    ['admin-listen', '127.0.0.1:0'],
    // Settings of the recorded Loki that differ from the product's defaults.
    ['max-entries-limit-per-query', '5000'],
    ...more,
  ]);
  const pipeline = await loaded(file, flags);
  return startProxy(change(withoutStages(pipeline, without)), {
    logTo: new CapturedLog(),
    ...(clock === undefined ? {} : { clock }),
  });
}

const pipelines = new Map<string, Promise<Pipeline>>();

/** A pipeline with these flags, cached: some tests start a thousand proxies, and reading a pipeline takes as long as starting it. */
function loaded(file: string, flags: ReadonlyMap<string, string>): Promise<Pipeline> {
  const key = JSON.stringify([file, ...flags]);
  const pipeline = pipelines.get(key) ?? load(file, flags);
  pipelines.set(key, pipeline);
  return pipeline;
}

async function load(file: string, flags: ReadonlyMap<string, string>): Promise<Pipeline> {
  const { pipeline, findings } = await loadPipeline(file, { flags, env: {} });
  if (pipeline === undefined)
    throw new Error(findings.map(({ at, message }) => `${at.file}:${at.line} ${message}`).join('\n'));
  return pipeline;
}

function withoutStages(pipeline: Pipeline, without: readonly string[]): Pipeline {
  return { ...pipeline, stages: pipeline.stages.filter(({ id }) => !without.includes(id)) };
}
