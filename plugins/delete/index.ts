/** Endpoint plugin `delete`: the only write, protected by safeguards (docs/protocol/requests.md#deletion). */
import type { DeleteOptions } from '../../core/base/options.gen.js';
import { fleetOf } from '../../core/cache/fleet.js';
import { defineEndpoint, type RouteHandler } from '../../core/plugin/index.js';
import { LatePurges } from './late-purges.js';
import { readDeletion, type Safeguards } from './safeguards.js';

export default defineEndpoint<DeleteOptions>({
  name: 'delete',
  summary: 'Guarded deletion of logs: confirmed, bounded in time, of named streams of one tenant, recorded.',
  create(options, host) {
    const safeguards: Safeguards = {
      maxRangeNs: BigInt(Math.round(options.maxRange)) * 1_000_000n,
      dottedNames: host.naming.dottedNames,
    };
    const purges = new LatePurges(async () => {
      // What other replicas keep would bring deleted lines back.
      await Promise.all([host.purge('all'), fleetOf(host).purgeOthers()]);
    });
    return {
      routes: new Map<string, RouteHandler>([
        [
          'delete',
          async (call) => {
            const answer = await call.ask(readDeletion(call, safeguards));
            await purges.begin();
            return answer;
          },
        ],
      ]),
      stop: () => {
        purges.stop();
        return Promise.resolve();
      },
    };
  },
});
