/** Endpoint plugin `ui`: a page that shows the pipeline and runs queries through it. */
import type { UiOptions } from '../../core/base/options.gen.js';
import { reportRun, type RunReport } from '../../core/engine/plan/explain/run.js';
import type {
  Latency,
  MeterReading,
  PartDescription,
  PipelineDescription,
  StageFigures,
} from '../../core/kernel/plugin/host.js';
import { RecentTimes } from '../../core/kernel/stage-meter.js';
import { usualPatternSearch } from '../../core/operations/pattern-search.js';
import { usualTail } from '../../core/operations/usual-tail.js';
import {
  apiError,
  defineEndpoint,
  type Endpoint,
  type Host,
  type RequestObserver,
  type RequestRecord,
  type RouteHandler,
  type Topic,
  type UpgradeCall,
  type UpgradeHandler,
} from '../../core/plugin/index.js';
import { jsonAnswer } from '../../core/wire/answer/encode.js';
import {
  paramContext,
  type ParamContext,
  type Params,
  parseDetectedFields,
  parseDetectedFieldValues,
  parseFormatQuery,
  parseLabels,
  parseLabelValues,
  parsePatterns,
  parseQueryRange,
  parseVolume,
  parseVolumeRange,
} from '../../core/wire/api/params/index.js';
import { type ApiRequest, Query } from '../../core/wire/api/request.js';
import { editQuery } from './edit.js';
import { checkForPage, explainForPage } from './explain.js';
import { narrowingOf } from './narrowing.js';
import { outlineQuery } from './outline.js';
import { PageFiles, pageFolder } from './page-files.js';
import { topValuesRequest } from './top-values.js';

/** Calls since the process started, with the durations of the latest ones. */
export interface CallFigures {
  readonly calls: number;
  /** Number of calls without an answer or with a status of 400 and above. */
  readonly errors: number;
  readonly ms: Latency | undefined;
}

/** The requests of all clients on one route. */
export interface RouteFigures extends CallFigures {
  readonly route: string;
}

/** Maximum number of routes that are counted; a site may add routes of its own. */
const maxRoutes = 200;

class CallCounter {
  #calls = 0;
  #errors = 0;
  readonly #times = new RecentTimes();

  add(status: number, durationMs: number): void {
    this.#calls += 1;
    if (status === 0 || status >= 400) this.#errors += 1;
    this.#times.add(durationMs);
  }

  figures(): CallFigures {
    return { calls: this.#calls, errors: this.#errors, ms: this.#times.latency() };
  }
}

/** Counts finished requests by route, and their backend calls. A stage meter cannot: rows are pulled long after the backend stage has returned. */
export class RequestFigures implements RequestObserver {
  readonly #backend = new CallCounter();
  readonly #routes = new Map<string, CallCounter>();

  started(): void {
    // A request is counted when it has ended.
  }

  finished({ trace, requestType: route }: RequestRecord, status: number, durationMs: number): void {
    for (const call of trace.upstreamCalls) this.#backend.add(call.status, call.durationMs);
    const counted = this.#routes.get(route) ?? new CallCounter();
    if (!this.#routes.has(route) && this.#routes.size >= maxRoutes) return;
    this.#routes.set(route, counted);
    counted.add(status, durationMs);
  }

  backend(): CallFigures {
    return this.#backend.figures();
  }

  routes(): readonly RouteFigures[] {
    return [...this.#routes].map(([route, counted]) => ({ route, ...counted.figures() }));
  }
}

/** Data of one worker for the page. */
export interface WorkerSnapshot {
  readonly pipeline: PipelineDescription;
  readonly backend: CallFigures;
  readonly routes: readonly RouteFigures[];
}

const snapshotTopic: Topic<null, WorkerSnapshot> = { name: 'ui pipeline' };

/** Merges the data of all workers: counters are summed, durations are those of the slowest worker. */
export function mergeSnapshots([first, ...others]: readonly WorkerSnapshot[]): WorkerSnapshot {
  if (first === undefined) throw new Error('no worker has answered, not even this one');
  return others.reduce(
    (all, { pipeline, backend, routes }) => ({
      pipeline: {
        ...all.pipeline,
        startedMs: Math.min(all.pipeline.startedMs, pipeline.startedMs),
        stages: partsOf(all.pipeline.stages, pipeline.stages),
        endpoints: partsOf(all.pipeline.endpoints, pipeline.endpoints),
        services: partsOf(all.pipeline.services, pipeline.services),
      },
      backend: {
        calls: all.backend.calls + backend.calls,
        errors: all.backend.errors + backend.errors,
        ms: slower(all.backend.ms, backend.ms),
      },
      routes: routesOf(all.routes, routes),
    }),
    first,
  );
}

function routesOf(a: readonly RouteFigures[], b: readonly RouteFigures[]): readonly RouteFigures[] {
  const all = new Map(a.map((one) => [one.route, one]));
  for (const { route, calls, errors, ms } of b) {
    const other = all.get(route);
    all.set(route, {
      route,
      calls: calls + (other?.calls ?? 0),
      errors: errors + (other?.errors ?? 0),
      ms: slower(other?.ms, ms),
    });
  }
  return [...all.values()];
}

/** Merges parts; workers have the same parts in the same order. */
function partsOf(a: readonly PartDescription[], b: readonly PartDescription[]): readonly PartDescription[] {
  return a.map((part, index) => {
    const other = b[index];
    if (other === undefined) return part;
    const meters = part.meters.map((meter, at) => merged(meter, other.meters[at]?.value ?? 0));
    const { figures } = part;
    if (figures === undefined || other.figures === undefined) return { ...part, meters };
    return { ...part, meters, figures: figuresOf(figures, other.figures) };
  });
}

function merged(meter: MeterReading, value: number): MeterReading {
  const { ofWorkers } = meter;
  if (ofWorkers === 'min') return { ...meter, value: Math.min(meter.value, value) };
  if (ofWorkers === 'max' || ofWorkers === 'average')
    return { ...meter, value: Math.max(meter.value, value) };
  return { ...meter, value: meter.value + value };
}

function figuresOf(a: StageFigures, b: StageFigures): StageFigures {
  return {
    calls: a.calls + b.calls,
    errors: a.errors + b.errors,
    answeredHere: a.answeredHere + b.answeredHere,
    ownMs: slower(a.ownMs, b.ownMs),
    totalMs: slower(a.totalMs, b.totalMs),
  };
}

function slower(a: Latency | undefined, b: Latency | undefined): Latency | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return { p50: Math.max(a.p50, b.p50), p95: Math.max(a.p95, b.p95) };
}

type UiHost = Pick<
  Host,
  | 'clock'
  | 'workers'
  | 'naming'
  | 'learner'
  | 'limits'
  | 'describePipeline'
  | 'readiness'
  | 'observeRequests'
  | 'shared'
>;

export default defineEndpoint<UiOptions>({
  name: 'ui',
  summary: 'Web page with the loaded pipeline, a query editor, histograms and query plans.',
  servesAdmin: true,
  create: (_options, host) => createUi(host, pageFolder),
});

/** Creates the endpoint, with the page's files from a folder. */
export function createUi(host: UiHost, folder: URL): Endpoint {
  const page = new PageFiles(folder);
  const figures = new RequestFigures();
  const runs = new RunReports();
  host.observeRequests(figures);
  host.observeRequests(runs);
  host.workers.answer(snapshotTopic, async () => {
    const pipeline = await host.describePipeline();
    return { pipeline, backend: figures.backend(), routes: figures.routes() };
  });
  // A page may reach another worker than the one that ran its query.
  host.workers.answer(runTopic, (name) => Promise.resolve(runs.get(name) ?? null));
  const asking =
    (parse: (params: Params, context: ParamContext) => ApiRequest): RouteHandler =>
    (call) =>
      call.ask(parse(call.params, paramContext(host, call)));
  const askingByName =
    (parse: (name: string, params: Params, context: ParamContext) => ApiRequest): RouteHandler =>
    (call) =>
      call.ask(parse(call.pathParams.get('name') ?? '', call.params, paramContext(host, call)));
  return {
    routes: new Map<string, RouteHandler>([
      // In a promise, so that a thrown error becomes a rejection.
      ['ui', (call) => new Promise((resolve) => resolve(page.answer(call)))],
      [
        'ui_pipeline',
        async () => {
          const [{ answers }, notReady] = await Promise.all([
            host.workers.gather(snapshotTopic, null),
            host.readiness(),
          ]);
          const { pipeline, ...figures } = mergeSnapshots(answers.map(({ answer }) => answer));
          return jsonAnswer({ ...pipeline, nowMs: host.clock.nowMs(), notReady, ...figures });
        },
      ],
      [
        'ui_explain',
        async ({ params, caller }) => jsonAnswer(await explainForPage(params, host, caller.orgId)),
      ],
      ['ui_query_range', asking(parseQueryRange)],
      ['ui_tail', () => Promise.reject(apiError('notWebSocket', {}))],
      ['ui_labels', asking(parseLabels)],
      ['ui_label_values', askingByName(parseLabelValues)],
      ['ui_fields', asking(parseDetectedFields)],
      ['ui_field_values', askingByName(parseDetectedFieldValues)],
      ['ui_top_values', asking(topValuesRequest)],
      ['ui_volume', asking(parseVolume)],
      ['ui_volume_range', asking(parseVolumeRange)],
      [
        'ui_patterns',
        (call) => {
          const search = usualPatternSearch(host).current?.();
          if (search === undefined) throw apiError('badRequest', { text: noPatterns });
          return call.ask(parsePatterns(call.params, paramContext(host, call), search));
        },
      ],
      ['ui_format', asking(parseFormatQuery)],
      ['ui_check', computed((params) => checkForPage(params, host))],
      ['ui_outline', computed((params) => outlineQuery(params, host.naming.dottedNames))],
      ['ui_edit', computed((params) => ({ query: editQuery(params, host.naming.dottedNames) }))],
      ['ui_narrowing', computed((params) => narrowingOf(params, host.naming.dottedNames))],
      [
        'ui_run',
        async ({ params }) => {
          const { answers } = await host.workers.gather(runTopic, params.get('name')?.[0] ?? '');
          const found = answers.find(({ answer }) => answer !== null)?.answer;
          if (found === undefined || found === null) throw apiError('notFound', {});
          return jsonAnswer(found);
        },
      ],
    ]),
    upgrades: new Map<string, UpgradeHandler>([['ui_tail', (call) => openTail(call, host)]]),
    start: () => page.load(),
  };
}

/** A route that is answered without the stages. */
function computed(answer: (params: Params) => object): RouteHandler {
  // In a promise, so that a thrown error becomes a rejection.
  return ({ params }) => new Promise((resolve) => resolve(jsonAnswer(answer(params))));
}

/** Opens the tail of the pipeline. Refuses a metric query before the handshake; the page then polls over HTTP and shows that error. */
async function openTail(call: UpgradeCall, host: UiHost): Promise<void> {
  const tail = usualTail(host).current;
  if (tail === undefined) throw apiError('badRequest', { text: noTail });
  const query = new Query(call.params.get('query')?.[0] ?? '', host.naming.dottedNames);
  if (query.ast.kind !== 'log') throw apiError('tailNeedsLogs', {});
  await tail(call);
}

const noTail = 'this pipeline serves no tail: add the endpoint `tail` to its file';
const noPatterns =
  'this pipeline serves no patterns: add the endpoint `patterns` to its file, or set its option enabled';

/** The header in which the page names a run, to request its cost afterwards. */
const runHeader = 'x-page-run';

/** Requests a run by its name from every worker; null from those that did not run it. */
const runTopic: Topic<string, RunReport | null> = { name: 'ui run' };

/** Maximum number of runs whose cost is stored: those of a few open pages. */
const maxKept = 64;
const namePattern = /^[0-9a-f]{16,64}$/;

/** The costs of the latest runs, by the unguessable names given by the pages. */
class RunReports implements RequestObserver {
  readonly #kept = new Map<string, RunReport>();

  started(): void {
    // The cost of a run is known at its end.
  }

  finished({ caller, trace }: RequestRecord, status: number, durationMs: number): void {
    const name = caller.headers.get(runHeader);
    if (name === undefined || !namePattern.test(name)) return;
    this.#kept.delete(name);
    this.#kept.set(name, reportRun(trace, { status, answer: '', durationMs }));
    for (const [oldest] of this.#kept) {
      if (this.#kept.size <= maxKept) return;
      this.#kept.delete(oldest);
    }
  }

  /** The report of a run; undefined if its name is unknown, if it was dropped, or if its request has not ended. */
  get(name: string): RunReport | undefined {
    return this.#kept.get(name);
  }
}
