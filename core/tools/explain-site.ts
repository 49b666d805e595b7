import { ApiError } from '../base/errors/api-error.js';
import { packageBuiltIns, type LoadedPlugin, type Pipeline } from '../kernel/pipeline/index.js';
import type { StagePlugin } from '../kernel/plugin/contract.js';
import type { Query } from '../wire/api/query.js';
import { ask, onlyQueries, answerSummary, toErrors } from './explain-run.js';
import type { Io } from '../program/io.js';
import { startProxy } from '../program/start-proxy.js';

/** Queries as the stages of a site rewrite them. */
export interface SiteQueries {
  /** Ids of the stages of the site before translate; none is run when there are none. */
  readonly stages: readonly string[];
  /** Ids of those behind it, which see its plan and are not run. */
  readonly behind: readonly string[];
  /** The queries that are translated: several where a stage asks several times. Empty when a stage answers by itself. */
  readonly queries: readonly Query[];
  /** Instead of queries, what the client gets. */
  readonly answer?: string;
}

/** Translate has got the query; nothing behind it is of interest. */
const reached = { status: 400, when: 'a query is explained', text: 'explained' } as const;

/** Runs the stages of a site that stand before translate on a query, with the built-in ones that give them slots. */
export async function siteQueries(
  text: string,
  pipeline: Pipeline,
  own: ReadonlyMap<string, string>,
  io: Io,
): Promise<SiteQueries> {
  const { names } = packageBuiltIns();
  const isOfSite = ({ use }: LoadedPlugin): boolean => !names.includes(use);
  const place = pipeline.stages.findIndex(({ plugin }) => plugin.name === 'translate');
  const before = place === -1 ? pipeline.stages : pipeline.stages.slice(0, place);
  const stages = before.filter(isOfSite).map(({ id }) => id);
  const behind = pipeline.stages.filter((loaded) => isOfSite(loaded) && !before.includes(loaded));
  const told = { stages, behind: behind.map(({ id }) => id) };
  if (stages.length === 0) return { ...told, queries: [] };
  const queries = new Map<string, Query>();
  const last: LoadedPlugin = {
    id: 'explain',
    use: 'explain',
    plugin: catching((query) => queries.set(query.text, query)),
    options: {},
    at: { file: pipeline.file, line: 1, column: 1, length: 1 },
  };
  const chain = [...before.filter((loaded) => isOfSite(loaded) || givesSlots(loaded)), last];
  const proxy = await startProxy(
    { ...onlyQueries(pipeline), stages: chain, services: [] },
    { logTo: toErrors(io) },
  );
  try {
    const { status, body } = await ask(proxy.urls.main, text, own);
    if (queries.size > 0) return { ...told, queries: [...queries.values()] };
    return { ...told, queries: [], answer: `${status} ${answerSummary(body, status)}` };
  } finally {
    await proxy.close();
  }
}

function givesSlots({ plugin }: LoadedPlugin): boolean {
  return plugin.kind === 'stage' && plugin.gives.length > 0;
}

/** A stage in the place of translate that only looks at what it gets. */
function catching(caught: (query: Query) => void): StagePlugin {
  return {
    kind: 'stage',
    name: 'explain',
    summary: 'Catches the query.',
    needs: [],
    gives: [],
    rest: 'never',
    create: () => ({
      handle: ({ request }) => {
        if (request.op === 'query_range' || request.op === 'query') caught(request.query);
        return Promise.reject(new ApiError(reached, reached.text));
      },
    }),
  };
}
