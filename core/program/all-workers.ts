import type { PurgeScope } from '../kernel/plugin/host.js';
import { purgeLives, type Units } from '../kernel/lifecycle.js';
import type { Lives } from '../kernel/plugin/life.js';
import type { Logger } from '../base/logger.js';
import type { Topic } from '../workers/channel.js';
import type { Workers } from '../workers/workers.js';

/** A purge of caches. A worker that missed it may still hold purged entries, so it purges everything when it returns. */
export const purgeTopic: Topic<{ readonly scope: PurgeScope; readonly tenantId?: string }, null> = {
  name: 'purge',
};
const readinessTopic: Topic<null, readonly string[]> = { name: 'readiness' };

/** The plugins of this process. */
interface Own {
  /** All live plugins, including those of earlier pipelines: their cache entries are served until their last request has ended. */
  readonly lives: Lives;
  /** The plugins of the current pipeline. */
  readonly units: () => Units;
  readonly log: Logger;
}

/** Operations on the plugins of all workers. */
export class AllWorkers {
  /** True once this process has been asked to stop. */
  isStopping = false;
  readonly #workers: Workers;
  readonly #own: Own;

  constructor(workers: Workers, own: Own) {
    this.#workers = workers;
    this.#own = own;
    workers.answer(purgeTopic, async ({ scope, tenantId }) => {
      await this.purgeHere(scope, tenantId);
      return null;
    });
    workers.answer(readinessTopic, async () => {
      if (this.isStopping) return ['shutting down'];
      return own.units().readiness();
    });
  }

  /** Purges the caches of this process only. */
  async purgeHere(scope: PurgeScope, tenantId?: string): Promise<void> {
    await purgeLives(this.#own.lives.all, this.#own.log, scope, tenantId);
  }

  async purge(scope: PurgeScope, tenantId?: string): Promise<void> {
    const asked = tenantId === undefined ? { scope } : { scope, tenantId };
    await this.#workers.gather(purgeTopic, asked, { isOwed: true });
  }

  /** Reasons why plugins are not ready, in pipeline order and by worker. */
  async readiness(): Promise<readonly string[]> {
    const { answers, missing } = await this.#workers.gather(readinessTopic, null);
    const absent = missing.map(({ worker, reason }) => `worker ${worker}: ${reason}`);
    return [...new Set([...answers.flatMap(({ answer }) => answer), ...absent])];
  }
}
