import { request as httpRequest } from 'undici';
import type { Clock } from '../../base/clock.js';
import { parsedJson } from '../../base/json-member.js';
import { FlagIndex, unknownFlag, UsageError, type OptionSources } from '../../kernel/options/index.js';
import { loadPipeline, type Finding, type Pipeline } from '../../kernel/pipeline/index.js';
import { placeText } from '../../kernel/pipeline/located.js';
import { headerNames } from '../../wire/routes-table.js';
import { activeTasksPath } from '../../victoria/upstream/deletion.js';
import { onLoopback } from '../loopback.js';
import { definitionsFor } from '../../program/site-flags.js';
import { startProxy } from '../../program/start-proxy.js';
import { CapturedLog, type LogRecord } from './captured-log.js';
import { startFakeVictoriaLogs, type BackendCall } from './fake-victorialogs.js';
import { withPassedStages } from './passed-stages.js';
import { startEmbedded, type StoredLine } from './stored-lines.js';
import { Script, type ScriptedAnswer } from './script.js';

export interface PipelineRequest {
  /** GET by default. */
  readonly method?: string;
  readonly path: string;
  /** Parameters of the URL; a list repeats the parameter. */
  readonly params?: Readonly<Record<string, string | readonly string[]>>;
  /** Parameters sent as a form body. */
  readonly form?: Readonly<Record<string, string | readonly string[]>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The main listener by default. */
  readonly listener?: 'main' | 'admin';
}

/** Settings of a pipeline file in a test, which depends on neither the clock nor the environment of this machine. */
export interface PipelineRun {
  /** Flags by name without dashes. `backend` is set by the run. */
  readonly flags?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** The time, which stands still; 2026-11-01T12:00:00Z by default. Durations are still measured. */
  readonly nowMs?: number;
  /** `X-Scope-OrgID` of the requests. */
  readonly tenant?: string;
  /** Answers of the backend. Without them, or if `lines` are given, an embedded backend answers. */
  readonly backend?: readonly ScriptedAnswer[];
  /** Rows of an embedded backend. */
  readonly lines?: readonly StoredLine[];
}

/** The outcome of a request. */
export interface PipelineAnswer {
  readonly status: number;
  /** Headers by lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  /** The body as JSON; undefined if it is not JSON. */
  readonly json: unknown;
  /** Calls to the backend for the request, in order. */
  readonly calls: readonly BackendCall[];
  /** Ids of the stages that it passed, each once, in order of the first pass. */
  readonly stages: readonly string[];
  /** The log records written until the request had ended. */
  readonly log: readonly LogRecord[];
}

export interface RunningPipeline {
  readonly ask: (request: PipelineRequest) => Promise<PipelineAnswer>;
  /** Advances the time at once. */
  readonly advance: (ms: number) => void;
  /** Calls for which the script of the backend had no answer. */
  readonly unanswered: readonly BackendCall[];
  /** Indexes of the script's answers that were not used. */
  readonly unused: () => readonly number[];
}

const firstMs = Date.parse('2026-11-01T12:00:00Z');
/** Services that call or fill the backend by themselves, which are left out because a test defines its contents. */
const leftOut: ReadonlySet<string> = new Set(['embedded-backend', 'demo-data', 'warmers']);

/** A pipeline file cannot be started. */
export class UnfitPipeline extends Error {
  constructor(readonly findings: readonly Finding[]) {
    const texts = findings.map(({ at, message }) => `${placeText(at)}: ${message}`);
    super(`cannot start the pipeline:\n${texts.join('\n')}`);
    this.name = 'UnfitPipeline';
  }
}

/** Runs a pipeline file over a backend for the test, sends it one request, and stops it. */
export async function runPipeline(
  file: string,
  request: PipelineRequest,
  run: PipelineRun = {},
): Promise<PipelineAnswer> {
  return withRunningPipeline(file, run, ({ ask }) => ask(request));
}

/**
 * Runs a pipeline file over a backend for the test while `use` sends requests. Throws UnfitPipeline, and UsageError for an unknown flag.
 */
export async function withRunningPipeline<Result>(
  file: string,
  run: PipelineRun,
  use: (running: RunningPipeline) => Promise<Result>,
): Promise<Result> {
  await refuseUnknownFlags(file, Object.keys(run.flags ?? {}));
  const clock = new StandingClock(run.nowMs ?? firstMs);
  const script = new Script(run.backend ?? []);
  const isScripted = run.backend !== undefined && run.lines === undefined;
  const embedded = isScripted ? undefined : await startEmbedded(run.lines ?? [], clock);
  const backend = await startFakeVictoriaLogs({
    answer: (call) => script.take(call),
    ...(embedded === undefined ? {} : { forwardTo: embedded.url }),
  });
  try {
    const flags = new Map(Object.entries({ ...run.flags, backend: backend.url }));
    const pipeline = await load(file, { flags, env: { ...run.env } });
    return await started(pipeline, clock, backend, run.tenant, (running) =>
      use({ ...running, unanswered: backend.unanswered, unused: () => script.unused() }),
    );
  } finally {
    await backend.close();
    await embedded?.close();
  }
}

async function refuseUnknownFlags(file: string, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  const known = new FlagIndex(await definitionsFor(file));
  const unknown = names.find((name) => known.get(name) === undefined);
  if (unknown !== undefined) throw new UsageError([unknownFlag(unknown, known.names())]);
}

async function load(file: string, sources: OptionSources): Promise<Pipeline> {
  const { pipeline, findings } = await loadPipeline(file, sources);
  if (pipeline === undefined) throw new UnfitPipeline(findings);
  return {
    ...pipeline,
    server: onLoopback(pipeline.server),
    // Records are compared right after the request, and tests expect one record per request.
    telemetry: { ...pipeline.telemetry, logFormat: 'json', logBuffered: false, logRateThreshold: 0 },
    services: pipeline.services.filter(({ plugin }) => !leftOut.has(plugin.name)),
  };
}

async function started<Result>(
  pipeline: Pipeline,
  clock: StandingClock,
  backend: { readonly calls: readonly BackendCall[] },
  tenant: string | undefined,
  use: (running: Pick<RunningPipeline, 'ask' | 'advance'>) => Promise<Result>,
): Promise<Result> {
  const log = new CapturedLog();
  const stages = new Set<string>();
  const ended = new Ends();
  const observed = withPassedStages(pipeline, (id) => stages.add(id));
  const proxy = await startProxy(observed, { clock, logTo: log, observer: ended });
  const ask = async (request: PipelineRequest): Promise<PipelineAnswer> => {
    stages.clear();
    const [firstCall, firstRecord] = [backend.calls.length, log.records.length];
    const base = request.listener === 'admin' ? (proxy.urls.admin ?? proxy.urls.main) : proxy.urls.main;
    const answer = await send(base, request, tenant);
    await ended.all();
    return {
      ...answer,
      // Deletions are followed in the background: no request reads their state.
      calls: backend.calls.slice(firstCall).filter(({ path }) => path !== activeTasksPath),
      stages: [...stages],
      log: log.records.slice(firstRecord),
    };
  };
  try {
    return await use({ ask, advance: (ms) => clock.advance(ms) });
  } finally {
    await proxy.close();
  }
}

async function send(
  base: string,
  request: PipelineRequest,
  tenant: string | undefined,
): Promise<Pick<PipelineAnswer, 'status' | 'headers' | 'body' | 'json'>> {
  const url = new URL(request.path, base);
  for (const [name, value] of pairsOf(request.params)) url.searchParams.append(name, value);
  const form = request.form === undefined ? undefined : new URLSearchParams(pairsOf(request.form)).toString();
  const body = form ?? request.body;
  const {
    statusCode,
    headers,
    body: answer,
  } = await httpRequest(url, {
    // Methods that are not in the type are up to the client.
    method: (request.method ?? (form === undefined ? 'GET' : 'POST')) as 'GET',
    headers: {
      ...(tenant === undefined ? {} : { [headerNames.tenant[0]]: tenant }),
      ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
      ...request.headers,
    },
    ...(body === undefined ? {} : { body }),
    reset: true,
  });
  const text = await answer.text();
  return { status: statusCode, headers: headersOf(headers), body: text, json: parsedJson(text) };
}

function pairsOf(params: PipelineRequest['params'] = {}): [string, string][] {
  return Object.entries(params).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' ? [[name, value]] : value.map((each) => [name, each]),
  );
}

function headersOf(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): Map<string, string> {
  return new Map(
    Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : (value ?? []).join(', '),
    ]),
  );
}

/** A clock that stands still until a test advances it, so that queries have the same times in every run. */
class StandingClock implements Clock {
  #passedMs = 0;
  constructor(private readonly startMs: number) {}
  nowMs(): number {
    return this.startMs + this.#passedMs;
  }
  nowNs(): bigint {
    return BigInt(this.nowMs()) * 1_000_000n;
  }
  monotonicMs(): number {
    return performance.now() + this.#passedMs;
  }
  advance(ms: number): void {
    this.#passedMs += ms;
  }
}

/** Waits until requests have ended, which may be later than their answers: their log records are written by then. */
class Ends {
  #open = 0;
  #waiting: (() => void)[] = [];

  started(): void {
    this.#open += 1;
  }
  finished(): void {
    this.#open -= 1;
    if (this.#open > 0) return;
    for (const tell of this.#waiting.splice(0)) tell();
  }
  all(): Promise<void> {
    return this.#open === 0 ? Promise.resolve() : new Promise((resolve) => this.#waiting.push(resolve));
  }
}
