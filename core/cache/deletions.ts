import type { Tenant } from '../base/caller.js';
import type { Host } from '../kernel/plugin/host.js';

/** A deletion that the backend has not finished, as far as this process knows. */
export interface RunningDeletion {
  /** The same in all replicas. */
  readonly id: string;
  /** In Unix milliseconds. */
  readonly begunMs: number;
  /** `X-Scope-OrgID` of the request. */
  readonly orgId: string | undefined;
  /** Whose rows it deletes; undefined where that cannot be known, and so means every tenant. */
  readonly account: Pick<Tenant, 'accountId' | 'projectId'> | undefined;
  /** The backend's name for it; undefined while it is being sent, and where nobody knows. */
  readonly taskId: string | undefined;
}

/**
 * The deletions that the backend has not finished. What it answers meanwhile may still hold rows that will be gone, so whoever keeps answers
 * neither keeps nor uses any of a tenant that one of them touches.
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

  /** Whether a running deletion may remove rows of this tenant. Accounts are compared, because several tenant ids may share one. */
  touch({ accountId, projectId }: Tenant): boolean {
    for (const { account } of this.#byId.values()) {
      if (account === undefined) return true;
      if (account.accountId === accountId && account.projectId === projectId) return true;
    }
    return false;
  }
}

/** Those of this process. */
export function runningDeletions(host: Pick<Host, 'shared'>): RunningDeletions {
  return host.shared('running deletions', () => new RunningDeletions());
}
