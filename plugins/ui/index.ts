/** Endpoint plugin `ui`: a page that shows the pipeline and runs queries through it. */
import type { UiOptions } from '../../core/base/options.gen.js';
import { reportRun, type RunReport } from '../../core/engine/plan/explain/run.js';
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
import { usualPatternSearch } from '../../core/operations/pattern-search.js';
import { usualTail } from '../../core/operations/usual-tail.js';
import { jsonAnswer } from '../../core/wire/answer/finished.js';
import { Query } from '../../core/wire/api/query.js';
import type { ApiRequest } from '../../core/wire/api/request.js';
import {
  paramContext,
  parseDetectedFields,
  parseDetectedFieldValues,
  parseFormatQuery,
  parseLabels,
  parseLabelValues,
  parsePatterns,
  parseQueryRange,
  parseVolume,
  parseVolumeRange,
  type ParamContext,
  type Params,
} from '../../core/wire/api/params/index.js';
import { editQuery } from './edit.js';
import { checkForPage, explainForPage } from './explain.js';
import { narrowingOf } from './narrowing.js';
import { outlineQuery } from './outline.js';
import { topValuesRequest } from './top-values.js';
import { mergeSnapshots, snapshotTopic } from './worker-snapshots.js';
import { PageFiles, pageFolder } from './page-files.js';
import { RequestFigures } from './request-figures.js';

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
