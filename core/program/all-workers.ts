import type { Host, PurgeScope } from '../kernel/plugin/host.js';
import { purgeLives, type Units } from '../kernel/lifecycle.js';
import type { Lives } from '../kernel/plugin/life.js';
import type { Logger } from '../base/logger.js';
import type { Topic } from '../workers/channel.js';
import type { Workers } from '../workers/workers.js';

/** A purge of caches. A worker that missed it may still hold purged entries, so it purges everything when it returns. */
export const purgeTopic: Topic<{ readonly scope: PurgeScope; readonly tenantId?: string }, void> = {
  name: 'purge',
};
const readinessTopic: Topic<null, readonly string[]> = { name: 'readiness' };

/** The plugins of this process. */
interface Own {
  /** All live plugins, including those of earlier pipelines: their cache entries are served until their last request has ended. */
  readonly lives: Lives;
  /** The plugins of the current pipeline. */
  readonly units: () => Units;
  /** True once this process has been asked to stop. */
  readonly isStopping: () => boolean;
  readonly log: Logger;
}

/** Operations on the plugins of all workers, which this process then answers for its own. */
export function acrossWorkers(
  workers: Workers,
  { lives, units, isStopping, log }: Own,
): Pick<Host, 'purge' | 'purgeHere' | 'readiness'> {
  const purgeHere: Host['purgeHere'] = (scope, tenantId) => purgeLives(lives.all, log, scope, tenantId);
  workers.answer(purgeTopic, ({ scope, tenantId }) => purgeHere(scope, tenantId));
  workers.answer(readinessTopic, async () => (isStopping() ? ['shutting down'] : units().readiness()));
  return {
    purgeHere,
    purge: async (scope, tenantId) => {
      const asked = tenantId === undefined ? { scope } : { scope, tenantId };
      await workers.gather(purgeTopic, asked, { isOwed: true });
    },
    readiness: async () => {
      const { answers, missing } = await workers.gather(readinessTopic, null);
      const absent = missing.map(({ worker, reason }) => `worker ${worker}: ${reason}`);
      return [...new Set([...answers.flatMap(({ answer }) => answer), ...absent])];
    },
  };
}
