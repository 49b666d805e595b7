/** Endpoint plugin `delete`: the only write, protected by safeguards (docs/protocol/requests.md#deletion). */
import type { DeleteOptions } from '../../core/base/options.gen.js';
import { defineEndpoint, type RouteHandler } from '../../core/plugin/index.js';
import { Follower } from './follower.js';
import { deleteMetrics } from './metrics.js';
import { readDeletion, type Safeguards } from './safeguards.js';

export default defineEndpoint<DeleteOptions, typeof deleteMetrics>({
  name: 'delete',
  summary: 'Guarded deletion of logs: confirmed, bounded in time, of named streams of one tenant, recorded.',
  metrics: deleteMetrics,
  create(options, host) {
    const safeguards: Safeguards = {
      maxRangeNs: BigInt(Math.round(options.maxRange)) * 1_000_000n,
      dottedNames: host.naming.dottedNames,
    };
    const follower = new Follower(options, host);
    return {
      routes: new Map<string, RouteHandler>([
        [
          'delete',
          (call) =>
            call.ask({
              ...readDeletion(call, safeguards),
              around: (tenant, send) => follower.around(tenant, call.caller, send),
            }),
        ],
      ]),
      start: (signal) => follower.start(signal),
      stop: () => follower.stop(),
    };
  },
});
