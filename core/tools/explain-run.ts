import { parsedJson } from '../base/json-member.js';
import type { Trace } from '../base/trace.js';
import { asArray, asObject } from '../comparison/json.js';
import { reportRun, type RunReport } from '../engine/plan/explain/run.js';
import type { LoadedPlugin, Pipeline } from '../kernel/pipeline/index.js';
import type { StagePlugin } from '../kernel/plugin/contract.js';
import type { LogDestination } from '../kernel/telemetry/logger.js';
import type { RequestObserver, RequestRecord } from '../kernel/telemetry/request-log.js';
import type { NameLearner } from '../victoria/names/name-learner.js';
import { parameterFlags } from './explain-flags.js';
import type { Io } from '../program/io.js';
import { onLoopback } from './loopback.js';
import { startProxy, type RunningProxy, type StartOptions } from '../program/start-proxy.js';

/**
 * Runs a query through a pipeline as a client would, on a separate loopback port, and reports what happened.
 * @param learner stores the names that the query learns
 */
export async function runQuery(
  query: string,
  pipeline: Pipeline,
  own: ReadonlyMap<string, string>,
  learner: NameLearner,
  io: Io,
): Promise<RunReport> {
  const requests = new EndedRequests();
  const isAgain = own.get('again') === 'true';
  const records: string[] = [];
  const logTo = toErrors({ err: (text) => records.push(text) });
  const asked = onlyQueries(isAgain ? withoutCaches(pipeline) : pipeline);
  const proxy = await startProxy(asked, { learner, observer: requests, logTo });
  let isDefect = false;
  try {
    const run = async (): Promise<Asked & Finished> => {
      const finished = requests.next();
      return { ...(await ask(proxy.urls.main, query, own)), ...(await finished) };
    };
    if (isAgain) await run();
    const { status, body, trace, durationMs } = await run();
    // The report describes other failures, but has no stack.
    isDefect = status === 500;
    return reportRun(trace, { status, durationMs, answer: answerSummary(body, status) });
  } finally {
    await proxy.close();
    if (isDefect) io.err(records.join(''));
  }
}

interface Finished {
  readonly trace: Trace;
  readonly durationMs: number;
}

/** Waits until requests have ended, which may be later than their answers. */
class EndedRequests implements RequestObserver {
  #resolve: (finished: Finished) => void = () => undefined;

  /** Resolves when the next request has ended. */
  next(): Promise<Finished> {
    return new Promise((resolve) => (this.#resolve = resolve));
  }

  started(): void {
    // The cost of a request is known at its end.
  }

  finished({ trace }: RequestRecord, _status: number, durationMs: number): void {
    this.#resolve({ trace, durationMs });
  }
}

/** The pipeline with each of its caches turned off. */
function withoutCaches(pipeline: Pipeline): Pipeline {
  const stages = pipeline.stages.map((stage) => {
    const options = asObject(stage.options);
    return 'cacheDisabled' in options ? { ...stage, options: { ...options, cacheDisabled: true } } : stage;
  });
  return { ...pipeline, stages };
}

/** The pipeline reduced to queries, on a free port of this machine, so that other machines cannot reach anything. */
export function onlyQueries(pipeline: Pipeline): Pipeline {
  return {
    ...pipeline,
    server: onLoopback(pipeline.server),
    // Rejections are part of the report.
    telemetry: { ...pipeline.telemetry, logLevel: 'error' },
    endpoints: pipeline.endpoints.filter(({ plugin }) => plugin.name === 'reference-api'),
  };
}

/** Starts other stages in place of those of a pipeline, to ask them queries. */
export function startStages(
  pipeline: Pipeline,
  stages: Pipeline['stages'],
  io: Pick<Io, 'err'>,
  options: Pick<StartOptions, 'learner'> = {},
): Promise<RunningProxy> {
  const asked = { ...onlyQueries(pipeline), stages, services: [] };
  return startProxy(asked, { ...options, logTo: toErrors(io) });
}

/** A stage that ends a chain in place of those of the file. */
export function lastStage({ file }: Pipeline, plugin: StagePlugin): LoadedPlugin<StagePlugin> {
  const at = { file, line: 1, column: 1, length: 1 };
  return { id: plugin.name, use: plugin.name, plugin, options: {}, at };
}

export function toErrors(io: Pick<Io, 'err'>): LogDestination {
  return {
    write: (text, done) => {
      io.err(text);
      done();
    },
  };
}

interface Asked {
  readonly status: number;
  readonly body: string;
}

export async function ask(url: string, query: string, own: ReadonlyMap<string, string>): Promise<Asked> {
  const parameters = parameterFlags.flatMap(({ name }): [string, string][] => {
    const value = own.get(name);
    return value === undefined ? [] : [[name, value]];
  });
  const orgId = own.get('org-id');
  const response = await fetch(`${url}/loki/api/v1/${own.has('time') ? 'query' : 'query_range'}`, {
    method: 'POST',
    headers: orgId === undefined ? {} : { 'X-Scope-OrgID': orgId },
    body: new URLSearchParams([['query', query], ...parameters]),
  });
  return { status: response.status, body: await response.text() };
}

/** A short summary of an answer; the text of an error. */
export function answerSummary(body: string, status: number): string {
  const answer = asObject(parsedJson(body));
  const { error } = answer;
  if (status !== 200) return typeof error === 'string' ? error : body.trim();
  const { resultType, result } = asObject(answer['data']);
  if (!Array.isArray(result) || resultType === 'scalar') return String(resultType);
  if (resultType !== 'streams')
    return `${String(resultType)} of ${counted(result.length, 'series', 'series')}`;
  const entries = result.reduce(
    (sum: number, stream: unknown) => sum + asArray(asObject(stream)['values']).length,
    0,
  );
  return `${counted(entries, 'entry', 'entries')} of ${counted(result.length, 'stream', 'streams')}`;
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
