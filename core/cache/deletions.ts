import type { Tenant } from '../base/caller.js';
import type { Host } from '../kernel/plugin/host.js';

/** A deletion that, as far as this process knows, the backend has not finished. */
export interface RunningDeletion {
  /** The id, equal in all replicas. */
  readonly id: string;
  /** Start in Unix milliseconds. */
  readonly begunMs: number;
  /** `X-Scope-OrgID` of the request. */
  readonly orgId: string | undefined;
  /** The account whose rows are deleted; undefined if unknown, which counts as every tenant. */
  readonly account: Pick<Tenant, 'accountId' | 'projectId'> | undefined;
  /** The backend's id of the task; undefined while the request is being sent, and if it is unknown. */
  readonly taskId: string | undefined;
}

/**
 * Deletions that the backend has not finished. Until then its answers may contain rows that are about to be deleted, so caches neither
 * store nor serve answers of the tenants concerned.
 */
export class RunningDeletions {
  readonly #byId = new Map<string, RunningDeletion>();

  get size(): number {
    return this.#byId.size;
  }

  get all(): readonly RunningDeletion[] {
    return [...this.#byId.values()];
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  set(deletion: RunningDeletion): void {
    this.#byId.set(deletion.id, deletion);
  }

  delete(id: string): boolean {
    return this.#byId.delete(id);
  }

  /** Tells whether a running deletion may remove rows of this tenant. Accounts are compared, because several tenant ids may share one. */
  touch({ accountId, projectId }: Tenant): boolean {
    for (const { account } of this.#byId.values()) {
      if (account === undefined) return true;
      if (account.accountId === accountId && account.projectId === projectId) return true;
    }
    return false;
  }
}

/** The instance of this process. */
export function runningDeletions(host: Pick<Host, 'shared'>): RunningDeletions {
  return host.shared('running deletions', () => new RunningDeletions());
}
