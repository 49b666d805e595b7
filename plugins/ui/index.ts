/** Endpoint plugin `ui`: a page that shows the pipeline and runs queries through it. */
import { jsonAnswer } from '../../core/wire/answer/finished.js';
import {
  paramContext,
  parseDetectedFields,
  parseFormatQuery,
  parseLabels,
  parseLabelValues,
  parseQueryRange,
} from '../../core/wire/api/params/index.js';
import type { UiOptions } from '../../core/base/options.gen.js';
import {
  apiError,
  defineEndpoint,
  type Endpoint,
  type Host,
  type RouteHandler,
} from '../../core/plugin/index.js';
import { ofAll, seenTopic } from './of-all.js';
import { BackendCalls } from './backend-calls.js';
import { checkForPage, explainForPage } from './explain.js';
import { editQuery } from './edit.js';
import { createHostGuard } from './host-guard.js';
import { PageFiles, pageFolder } from './page-files.js';
import { RunReports, runTopic } from './run-reports.js';

type UiHost = Pick<
  Host,
  'clock' | 'workers' | 'naming' | 'learner' | 'limits' | 'describePipeline' | 'readiness' | 'observeRequests'
>;

export default defineEndpoint<UiOptions>({
  name: 'ui',
  summary: 'A page for browsers: the pipeline as loaded, queries, histograms and plans.',
  servesAdmin: true,
  create: (options, host) => createUi(options, host, pageFolder),
});

/** The endpoint, with the page's files from a folder. */
export function createUi({ allowedHosts }: UiOptions, host: UiHost, folder: URL): Endpoint {
  const page = new PageFiles(folder);
  const backendCalls = new BackendCalls();
  const runs = new RunReports();
  host.observeRequests(backendCalls);
  host.observeRequests(runs);
  host.workers.answer(seenTopic, async () => {
    return { pipeline: await host.describePipeline(), backend: backendCalls.figures() };
  });
  // A page may ask another worker than the one that ran its query.
  host.workers.answer(runTopic, (name) => Promise.resolve(runs.get(name) ?? null));
  const guardHost = createHostGuard(allowedHosts);
  let wantsToken = false;
  const guarded =
    (handler: RouteHandler): RouteHandler =>
    async (call) => {
      // A caller with the admin token is not an attacker's page.
      if (!wantsToken) guardHost(call.caller);
      return handler(call);
    };
  return {
    routes: new Map<string, RouteHandler>([
      // Inside a promise, so that a thrown error becomes a rejection.
      ['ui', (call) => new Promise((resolve) => resolve(page.answer(call)))],
      [
        'ui_pipeline',
        guarded(async () => {
          const [{ answers }, notReady] = await Promise.all([
            host.workers.gather(seenTopic, null),
            host.readiness(),
          ]);
          const { pipeline, backend } = ofAll(answers.map(({ answer }) => answer));
          return jsonAnswer({ ...pipeline, nowMs: host.clock.nowMs(), notReady, backend });
        }),
      ],
      [
        'ui_explain',
        guarded(async ({ params, caller }) => jsonAnswer(await explainForPage(params, host, caller.orgId))),
      ],
      ['ui_query_range', guarded((call) => call.ask(parseQueryRange(call.params, paramContext(host, call))))],
      ['ui_labels', guarded((call) => call.ask(parseLabels(call.params, paramContext(host, call))))],
      [
        'ui_label_values',
        guarded((call) =>
          call.ask(
            parseLabelValues(call.pathParams.get('name') ?? '', call.params, paramContext(host, call)),
          ),
        ),
      ],
      ['ui_fields', guarded((call) => call.ask(parseDetectedFields(call.params, paramContext(host, call))))],
      ['ui_format', guarded((call) => call.ask(parseFormatQuery(call.params, paramContext(host, call))))],
      ['ui_check', guarded(({ params }) => Promise.resolve(jsonAnswer(checkForPage(params, host))))],
      [
        'ui_edit',
        guarded(({ params }) =>
          Promise.resolve(jsonAnswer({ query: editQuery(params, host.naming.dottedNames) })),
        ),
      ],
      [
        'ui_run',
        guarded(async ({ params }) => {
          const { answers } = await host.workers.gather(runTopic, params.get('name')?.[0] ?? '');
          const found = answers.find(({ answer }) => answer !== null)?.answer;
          if (found === undefined || found === null) throw apiError('notFound', {});
          return jsonAnswer(found);
        }),
      ],
    ]),
    start: async () => {
      const { sections } = await host.describePipeline();
      const server = sections.find(({ name }) => name === 'server');
      wantsToken = server?.options.find(({ key }) => key === 'adminAuthToken')?.isSet ?? false;
      await page.load();
    },
  };
}
