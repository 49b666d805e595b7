import type { Tenant } from '../../base/caller.js';
import { ApiError } from '../../base/errors/api-error.js';
import type { LoadedPlugin, Pipeline } from '../../kernel/pipeline/index.js';
import type { StagePlugin } from '../../kernel/plugin/contract.js';
import type { Exchange } from '../../kernel/plugin/exchange.js';
import type { Io } from '../../program/io.js';
import type { RunningProxy } from '../../program/start-proxy.js';
import type { Upstream } from '../../victoria/upstream/types.js';
import { lastStage, startStages } from '../explain-run.js';

/** A tenant as the pipeline resolves it, and the backend with the pipeline's credentials. */
export interface TenantAccess {
  readonly tenant: Tenant;
  /** Undefined if the backend is not needed. */
  readonly upstream: Upstream | undefined;
}

type Job = (access: TenantAccess) => Promise<void>;

/** Rejects the request once the job is done, because later stages are irrelevant. */
const jobDone = { status: 400, when: 'a job of a tenant is done', text: 'done' } as const;

/**
 * Runs jobs in place of the stages behind the tenant and the backend of a pipeline, so that they see what a request of this tenant would
 * see: its account, its field mapping and its credentials.
 */
export class TenantJobs {
  readonly #proxy: RunningProxy;
  readonly #place: { job: Job | undefined };

  private constructor(proxy: RunningProxy, place: { job: Job | undefined }) {
    this.#proxy = proxy;
    this.#place = place;
  }

  /** @param needsBackend false if no job calls the backend */
  static async start(pipeline: Pipeline, needsBackend: boolean, io: Io): Promise<TenantJobs> {
    const place: { job: Job | undefined } = { job: undefined };
    const isUsed = ({ plugin }: LoadedPlugin): boolean =>
      plugin.name === 'tenancy' || (needsBackend && plugin.name === 'backend');
    const stages = [...pipeline.stages.filter(isUsed), lastStage(pipeline, jobStage(place))];
    return new TenantJobs(await startStages(pipeline, stages, io), place);
  }

  /**
   * Runs one job; jobs run one after the other.
   * @throws Error with the proxy's text for a tenant that it refuses
   */
  async run<Result>(
    orgId: string | undefined,
    job: (access: TenantAccess) => Promise<Result>,
  ): Promise<Result> {
    const begun: { done?: Promise<Result> } = {};
    this.#place.job = async (access) => {
      begun.done = job(access);
      // The caller awaits it, too.
      await begun.done.catch(() => undefined);
    };
    const answer = await fetch(`${this.#proxy.urls.main}/loki/api/v1/labels`, {
      headers: orgId === undefined ? {} : { 'X-Scope-OrgID': orgId },
    });
    const text = await answer.text();
    if (begun.done === undefined)
      throw new Error(`the tenant ${orgId ?? ''} is refused: ${answer.status} ${text.trim()}`);
    return begun.done;
  }

  close(): Promise<void> {
    return this.#proxy.close();
  }
}

function jobStage(place: { readonly job: Job | undefined }): StagePlugin {
  return {
    kind: 'stage',
    name: 'rules',
    summary: 'Runs a job of a tenant.',
    needs: [],
    gives: [],
    rest: 'never',
    create: () => ({
      handle: async ({ slots }: Exchange) => {
        const { tenant, upstream } = slots;
        if (tenant !== undefined) await place.job?.({ tenant, upstream });
        throw new ApiError(jobDone, jobDone.text);
      },
    }),
  };
}
