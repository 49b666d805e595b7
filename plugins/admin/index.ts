/** Endpoint plugin `admin`: administration of a running proxy. */
import { apiError } from '../../core/base/errors/table.js';
import { jsonAnswer, textAnswer, finishedAnswer } from '../../core/wire/answer/encode.js';
import { Query } from '../../core/wire/api/request.js';
import type { AdminOptions } from '../../core/base/options.gen.js';
import { fleetOf } from '../../core/cache/fleet.js';
import { explainerOfPipeline } from '../../core/engine/plan/explain/of-pipeline.js';
import { printExplanation } from '../../core/engine/plan/explain/print.js';
import {
  defineEndpoint,
  type Answer,
  type Host,
  type HttpCall,
  type RouteHandler,
  type Topic,
} from '../../core/plugin/index.js';
import { profiler } from './profiles.js';
import { QueryAnalytics, reportOf, type TrackedQueries } from './query-analytics.js';
import type { ServingState, WorkerReload } from '../../core/kernel/plugin/host.js';

export default defineEndpoint<AdminOptions>({
  name: 'admin',
  summary:
    'Reload, cache flush, query analytics and profiles, on the admin listener or with the admin token.',
  servesAdmin: true,
  create(options, host) {
    const routes = new Map<string, RouteHandler>([
      ['cache_flush', (call) => flushCaches(call, host)],
      ['debug_explain', (call) => explain(call, host)],
      ['admin_reload', async () => reloadAnswer(await host.reload())],
      ['admin_pipeline', () => pipelineAnswer(host)],
      ['debug_queries', offBy('-server.enable-query-analytics')],
      ['debug_pprof', offBy('-server.enable-pprof')],
    ]);
    host.workers.answer(servingTopic, () => host.serving());
    if (options.enableQueryAnalytics) {
      const analytics = new QueryAnalytics(() => host.clock.nowMs());
      host.observeRequests(analytics);
      host.workers.answer(queriesTopic, () => analytics.all());
      routes.set('debug_queries', async () => {
        const { answers } = await host.workers.gather(queriesTopic, null);
        return jsonAnswer(reportOf(answers.map(({ answer }) => answer)), 'application/json');
      });
    }
    if (options.enablePprof) {
      const worker = host.workers.count === 1 ? undefined : host.workers.id;
      routes.set('debug_pprof', profiler({ worker }));
    }
    return { routes };
  },
});

/** The answer of a disabled route, which names the flag that enables it. */
function offBy(flag: string): RouteHandler {
  return () => Promise.reject(apiError('routeOff', { flag }));
}

/** Requests the queries tracked by a worker. */
const queriesTopic: Topic<null, TrackedQueries> = { name: 'admin queries' };

/** Explains how a query is executed, as text, or as JSON with `format=json`, without calling the backend. */
async function explain(
  { params, caller }: HttpCall,
  host: Pick<Host, 'naming' | 'learner' | 'describePipeline'>,
): Promise<Answer> {
  const query = new Query(params.get('query')?.[0] ?? '', host.naming.dottedNames);
  const explanation = (await explainerOfPipeline(host, caller.orgId))(query);
  const isJson = params.get('format')?.[0] === 'json';
  return isJson ? jsonAnswer(explanation) : textAnswer(200, printExplanation(explanation));
}

/** Values of `peers` that mean "no" (docs/protocol/operation.md#listeners-and-admin-routes). */
const noes: ReadonlySet<string> = new Set(['0', 'false', 'no', 'off']);

const alone = { _note: 'peer cache disabled; purged local instance only' };

async function flushCaches(
  { params }: HttpCall,
  host: Pick<Host, 'purge' | 'log' | 'shared'>,
): Promise<Answer> {
  // An empty name is not a tenant, and must not stand for all of them.
  const tenant = params.get('tenant')?.[0];
  if (tenant === '') throw apiError('emptyFlushTenant', {});
  await host.purge('all', tenant);
  host.log.info('caches flushed', { 'tenant.id': tenant });
  const peers = params.get('peers')?.[0];
  const asksPeers = peers !== undefined && !noes.has(peers.toLowerCase());
  const purged = asksPeers ? await fleetOf(host).purgeOthers(tenant) : undefined;
  const report = purged === undefined ? alone : Object.fromEntries(purged);
  return jsonAnswer(
    {
      local: 'purged (L0 hot index + L1 memory + L2 disk)',
      ...(asksPeers ? { peers: report } : {}),
      status: 'ok',
    },
    'application/json',
  );
}

/** Requests the pipeline that a worker serves. */
const servingTopic: Topic<null, ServingState> = { name: 'admin serving' };
const jsonType = 'application/json';
/** Status if the file cannot be served. */
const refusedStatus = 422;

/** Answers `POST /admin/reload` with the outcome in each worker: 422 if one rejected the file, 503 if one did not answer. */
function reloadAnswer(workers: readonly WorkerReload[]): Answer {
  const reports = workers.flatMap((one) => ('report' in one ? [one.report] : []));
  const isRefused = reports.some(({ result }) => result === 'refused');
  const status = isRefused ? refusedStatus : reports.length < workers.length ? 503 : 200;
  const [first] = reports;
  const body = {
    result: isRefused ? 'refused' : (first?.result ?? 'missing'),
    hash: first?.hash ?? null,
    // The same file gives the same findings.
    findings: (reports.find(({ result }) => result === 'refused') ?? first)?.findings ?? [],
    workers: workers.map((one) =>
      'report' in one
        ? {
            worker: one.worker,
            result: one.report.result,
            hash: one.report.hash,
            generation: one.report.generation,
          }
        : one,
    ),
  };
  return finishedAnswer(status, Buffer.from(JSON.stringify(body)), jsonType);
}

/** Answers `GET /admin/pipeline` with the served pipeline, for comparison with other replicas. */
async function pipelineAnswer(host: Pick<Host, 'serving' | 'workers' | 'describePipeline'>): Promise<Answer> {
  const own = host.serving();
  const [{ stages, endpoints, services }, { answers, missing }] = await Promise.all([
    host.describePipeline(),
    host.workers.gather(servingTopic, null),
  ]);
  const hashes = new Set(answers.map(({ answer }) => answer.hash));
  const placesOf = (parts: typeof stages): readonly object[] =>
    parts.map(({ id, name, at }) => ({ id, plugin: name, at }));
  return jsonAnswer(
    {
      file: own.file,
      hash: own.hash,
      // False if workers serve different pipelines, or one did not answer.
      agrees: hashes.size === 1 && missing.length === 0,
      stages: placesOf(stages),
      endpoints: placesOf(endpoints),
      services: placesOf(services),
      workers: answers.map(({ worker, answer }) => ({
        worker,
        hash: answer.hash,
        generation: answer.generation,
        started: timeOf(answer.startedMs),
        serving_since: timeOf(answer.servingSinceMs),
        draining: answer.draining,
        last_reload:
          answer.lastReload === undefined
            ? null
            : {
                at: timeOf(answer.lastReload.atMs),
                result: answer.lastReload.result,
                findings: answer.lastReload.findings,
              },
      })),
      missing,
    },
    jsonType,
  );
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
