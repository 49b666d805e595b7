import type { PurgeScope } from '../kernel/plugin/host.js';
import type { Units } from '../kernel/lifecycle.js';
import type { Topic } from '../workers/line.js';
import type { Workers } from '../workers/workers.js';

/** A purge: a worker that misses it keeps what others have dropped, and drops everything when it is back. */
export const purgeTopic: Topic<{ readonly scope: PurgeScope; readonly tenantId?: string }, null> = {
  name: 'purge',
};
const readinessTopic: Topic<null, readonly string[]> = { name: 'readiness' };

/** What is asked of the plugins of all workers. */
export class AllWorkers {
  readonly #workers: Workers;

  constructor(workers: Workers, units: () => Units) {
    this.#workers = workers;
    workers.answer(purgeTopic, async ({ scope, tenantId }) => {
      await units().purge(scope, tenantId);
      return null;
    });
    workers.answer(readinessTopic, () => units().readiness());
  }

  async purge(scope: PurgeScope, tenantId?: string): Promise<void> {
    const asked = tenantId === undefined ? { scope } : { scope, tenantId };
    await this.#workers.gather(purgeTopic, asked, { isOwed: true });
  }

  /** Why not all are ready, in pipeline order and by worker. */
  async readiness(): Promise<readonly string[]> {
    const { answers, missing } = await this.#workers.gather(readinessTopic, null);
    const absent = missing.map(({ worker, reason }) => `worker ${worker}: ${reason}`);
    return [...new Set([...answers.flatMap(({ answer }) => answer), ...absent])];
  }
}
