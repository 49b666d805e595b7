import { ApiError } from '../base/errors/api-error.js';
import type { Pipeline } from '../kernel/pipeline/index.js';
import type { StagePlugin } from '../kernel/plugin/contract.js';
import type { Query } from '../wire/api/request.js';
import { answerSummary, ask, lastStage, startStages } from './explain-run.js';
import { siteChain, siteStages } from './site-stages.js';
import type { Io } from '../program/io.js';

/** Queries as rewritten by the stages of a site. */
export interface SiteQueries {
  /** Ids of the site's stages before translate; if there are none, no stage is run. */
  readonly stages: readonly string[];
  /** Ids of the site's stages after translate, which see its plan and are not run. */
  readonly behind: readonly string[];
  /** The queries that are translated: several if a stage sends several requests. Empty if a stage answers by itself. */
  readonly queries: readonly Query[];
  /** The client's answer, if there are no queries. */
  readonly answer?: string;
}

/** Thrown once translate has received the query, because later stages are irrelevant. */
const reached = { status: 400, when: 'a query is explained', text: 'explained' } as const;

/** Runs the stages of a site before translate on a query, with the built-in ones that provide their slots. */
export async function siteQueries(
  text: string,
  pipeline: Pipeline,
  own: ReadonlyMap<string, string>,
  io: Io,
): Promise<SiteQueries> {
  const place = pipeline.stages.findIndex(({ plugin }) => plugin.name === 'translate');
  const before = place === -1 ? pipeline.stages : pipeline.stages.slice(0, place);
  const stages = siteStages(before).map(({ id }) => id);
  const behind = siteStages(pipeline.stages).filter((loaded) => !before.includes(loaded));
  const ids = { stages, behind: behind.map(({ id }) => id) };
  if (stages.length === 0) return { ...ids, queries: [] };
  const queries = new Map<string, Query>();
  const last = lastStage(
    pipeline,
    catching((query) => queries.set(query.text, query)),
  );
  const proxy = await startStages(pipeline, [...siteChain(before), last], io);
  try {
    const { status, body } = await ask(proxy.urls.main, text, own);
    if (queries.size > 0) return { ...ids, queries: [...queries.values()] };
    return { ...ids, queries: [], answer: `${status} ${answerSummary(body, status)}` };
  } finally {
    await proxy.close();
  }
}

/** A stage in place of translate that only records the queries it receives. */
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
