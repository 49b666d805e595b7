import type { PeerCacheOptions } from '../../core/base/options.gen.js';
import type { AnswerStore } from '../../core/cache/answer-store.js';
import type { Host, RouteHandler, Workers } from '../../core/plugin/index.js';
import { type Address, peerGate } from './peers/client.js';
import { createHouse, type PeerHouse } from './peers/peer.js';
import { Members } from './peers/members.js';
import type { peerMetrics } from './peers/metrics.js';
import { PeerTier } from './peers/peer-tier.js';
import { PeerRoutes } from './peers/routes.js';

type PeerHost = Host<typeof peerMetrics>;

/** Routes of this worker's socket, with the peer routes that handle them. */
const routeIds: ReadonlyMap<string, string> = new Map([
  ['peer_get', 'worker_get'],
  ['peer_set', 'worker_set'],
]);

/**
 * The other workers of the proxy as peers, over local sockets. They are known from the start, and purges reach all of them by other means.
 */
export class WorkerPeers {
  readonly #host: PeerHost;
  readonly #house: PeerHouse;
  readonly #members: Members;
  readonly #tier: PeerTier;
  readonly #routes: PeerRoutes;
  readonly #all: readonly Address[];

  /** Undefined for a single process, or if workers do not share their caches. */
  static of(options: PeerCacheOptions, host: PeerHost): WorkerPeers | undefined {
    const { sockets } = host.workers;
    return sockets === undefined ? undefined : new WorkerPeers(sockets, options, host);
  }

  private constructor(
    { paths, token }: NonNullable<Workers['sockets']>,
    options: PeerCacheOptions,
    host: PeerHost,
  ) {
    this.#host = host;
    this.#all = paths.map((path) => ({ text: `unix:${path}`, host: undefined }));
    this.#house = createHouse(options, host, token);
    const self = this.#all[host.workers.id - 1];
    if (self === undefined) throw new Error(`worker ${host.workers.id} has no socket`);
    this.#members = new Members(self, '', this.#house, () => undefined);
    this.#tier = new PeerTier(options, this.#house, this.#members);
    this.#routes = new PeerRoutes({
      house: this.#house,
      members: this.#members,
      tier: this.#tier,
      options,
      gate: peerGate(token, () => false),
      purge: (tenantId) => host.purge('all', tenantId),
    });
  }

  /** Routes for requests of other workers. */
  get routes(): ReadonlyMap<string, RouteHandler> {
    return new Map(
      [...this.#routes.handlers].flatMap(([id, handler]) => {
        const own = routeIds.get(id);
        return own === undefined ? [] : [[own, handler] as const];
      }),
    );
  }

  /** Adds the other workers behind the tiers of the store. */
  start(store: AnswerStore): void {
    this.#tier.attach(store, this.#host);
    this.#members.update(
      this.#all.map((address) => ({ address })),
      [],
    );
  }

  stop(): void {
    this.#house.client.close();
  }
}
