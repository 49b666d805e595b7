/** The cache that replicas, or workers, share (L3): their members, routes for their requests, and requests to them. */
import { Encodings } from '../../../core/base/encoding.js';
import { inParallel } from '../../../core/base/pace/in-parallel.js';
import { largestSnapshot, type Asking, fleetOf } from '../../../core/cache/fleet.js';
import { Members } from './members.js';
import type { Peer, PeerHouse } from './peer.js';
import type { PeerCacheOptions } from '../../../core/base/options.gen.js';
import type { AnswerStore } from '../../../core/cache/answer-store.js';
import { SpareTime, whileIdle } from '../../../core/cache/spare-time.js';
import { readOptionFile } from '../../../core/kernel/options/secret-file.js';
import type { Host, RouteHandler } from '../../../core/plugin/index.js';
import { parseAddress, type Address, PeerClient, type PeerTls, peerGate, tokenHeader } from './client.js';
import { discoveryOf, type Discovery, Watch } from './discovery.js';
import type { peerMetrics } from './metrics.js';
import { PeerTier } from './peer-tier.js';
import { ReadAhead } from './read-ahead.js';
import { PeerRoutes } from './routes.js';
import { sleep } from '../../../core/base/time/waits.js';

type PeerHost = Host<typeof peerMetrics>;

const purgesAtOnce = 16;

/** The place of this process among those that share a cache. */
interface Place {
  readonly self: Address;
  /** Availability zone of this process; empty for none. */
  readonly zone: string;
  /** Undefined if callers are admitted by their address. */
  readonly token: string | undefined;
  readonly resized?: ((peers: number) => void) | undefined;
}

/** Makes what all such processes have, whichever way they find each other. */
function partsOf({ self, zone, token, resized }: Place, options: PeerCacheOptions, host: PeerHost) {
  const { clock, log, meters } = host;
  const house: PeerHouse = {
    client: new PeerClient(token === undefined ? {} : { [tokenHeader]: token }),
    encodings: new Encodings(),
    token: token ?? '',
    timeoutMs: options.peerTimeout,
    patienceMs: options.peerPatience,
    ...{ clock, log, meters },
  };
  const members = new Members(self, zone, house, resized);
  const tier = new PeerTier(options, house, members);
  const { handlers } = new PeerRoutes({
    ...{ house, members, tier, options },
    fleet: fleetOf(host),
    gate: peerGate(token, (ip) => members.has(ip)),
    purge: (tenantId) => host.purge('all', tenantId),
  });
  return { house, members, tier, handlers };
}

/**
 * The other workers of the proxy as peers, over local sockets. They are known from the start, and purges reach all of them by other means.
 * Undefined for a single process, or if workers do not share their caches.
 */
export function workerPeers(options: PeerCacheOptions, host: PeerHost) {
  const { sockets, id } = host.workers;
  if (sockets === undefined) return undefined;
  const all = sockets.paths.map((path): Address => ({ text: `unix:${path}`, host: undefined }));
  const self = all[id - 1];
  if (self === undefined) throw new Error(`worker ${id} has no socket`);
  const place = { self, zone: '', token: sockets.token };
  const { house, members, tier, handlers } = partsOf(place, options, host);
  return {
    /** The routes of this worker's socket. */
    routes: new Map([
      ['worker_get', handlers.peer_get],
      ['worker_set', handlers.peer_set],
    ]),
    /** Adds the other workers behind the tiers of the store. */
    start: (store: AnswerStore): void => {
      tier.attach(store, host);
      const found = all.map((address) => ({ address }));
      members.update(found, []);
    },
    stop: () => house.client.close(),
  };
}

/** The other replicas as peers. */
export class Peers {
  readonly #host: PeerHost;
  readonly #options: PeerCacheOptions;
  readonly #parts: ReturnType<typeof partsOf>;
  readonly #watch: Watch;
  readonly #ahead: ReadAhead;
  readonly #started = withResolvers();

  /** Undefined if the options configure no fleet. Throws an Error naming the wrong flag. */
  static of(options: PeerCacheOptions, host: PeerHost): Peers | undefined {
    const { peerSelf, peerDiscovery } = options;
    if (peerSelf === undefined || peerDiscovery === undefined) {
      if (peerSelf !== undefined || peerDiscovery !== undefined)
        host.log.warn('the peer cache is off: set both -peer-self and -peer-discovery to turn it on');
      return undefined;
    }
    const self = parseAddress(peerSelf);
    if (self === undefined)
      throw new Error(`-peer-self: ${peerSelf} is not an address such as 10.0.0.1:3100`);
    return new Peers(self, discoveryOf(peerDiscovery, options), options, host);
  }

  private constructor(self: Address, discovery: Discovery, options: PeerCacheOptions, host: PeerHost) {
    const { peerAuthToken: token } = options;
    this.#host = host;
    this.#options = options;
    const resized = (peers: number): void => {
      host.meters.peer_cache_peers.set(peers, {});
      host.meters.peer_cache_cluster_members.set(peers + 1, {});
    };
    this.#parts = partsOf({ self, zone: options.peerSelfAz, token, resized }, options, host);
    const { house, members } = this.#parts;
    this.#watch = new Watch({
      ...{ discovery, members },
      everyMs: options.peerDiscoveryInterval,
      needsIps: token === undefined,
      log: host.log,
      meters: host.meters,
    });
    const spare = new SpareTime(
      host,
      whileIdle(() => true),
    );
    this.#ahead = new ReadAhead({ options, house, members, isFree: () => spare.isFree });
    host.onStop(
      fleetOf(host).join({
        purge: (tenantId, news) => this.#purgeOthers(tenantId, news),
        ask: (asking) => askForSnapshots(asking, house, members, this.#started.promise),
      }),
    );
  }

  /** Routes for requests of other replicas. */
  get routes(): ReadonlyMap<string, RouteHandler> {
    return new Map(Object.entries(this.#parts.handlers));
  }

  /** Adds the other replicas behind the tiers of the store. */
  async start(store: AnswerStore): Promise<void> {
    const tls = await tlsOf(this.#options);
    if (tls !== undefined) this.#parts.house.client.secure(tls);
    const front = this.#parts.tier.attach(store, this.#host);
    await this.#watch.start();
    this.#ahead.start(front);
    this.#started.resolve();
  }

  stop(): void {
    this.#watch.stop();
    this.#ahead.stop();
    this.#parts.house.client.close();
  }

  async #purgeOthers(tenantId?: string, news?: string): Promise<ReadonlyMap<string, string>> {
    const report = new Map<string, string>();
    const { signal } = new AbortController();
    await inParallel(
      this.#parts.members.peers,
      purgesAtOnce,
      async (peer) => void report.set(peer.address.text, await peer.purge(tenantId, news)),
      signal,
    );
    const failed = [...report].filter(([, outcome]) => outcome !== 'purged');
    if (failed.length > 0)
      this.#host.log.warn('cannot flush the caches of peers', {
        peers: failed.map(([address, outcome]) => `${address}: ${outcome}`),
      });
    return new Map([...report].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

/**
 * TLS files for calls to members, which are configured alike: if this one serves HTTPS, so do the others. The server reports missing files.
 */
async function tlsOf({
  tlsCertFile,
  tlsKeyFile,
  tlsClientCaFile,
}: PeerCacheOptions): Promise<PeerTls | undefined> {
  if (tlsCertFile === undefined || tlsKeyFile === undefined) return undefined;
  const [cert, key] = [
    await readOptionFile('-tls-cert-file', tlsCertFile),
    await readOptionFile('-tls-key-file', tlsKeyFile),
  ];
  return tlsClientCaFile === undefined
    ? { cert, key }
    : { cert, key, ca: await readOptionFile('-tls-client-ca-file', tlsClientCaFile) };
}

function withResolvers(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}

/** Maximum number of peers asked for snapshots at startup: more would hardly add anything. */
const maxAsked = 8;
const askedAtOnce = 2;

/** @param started resolves when the members are known */
export async function askForSnapshots(
  { name, timeoutMs, signal, use }: Asking,
  house: Pick<PeerHouse, 'log'>,
  members: Pick<Members, 'peers'>,
  started: Promise<void>,
): Promise<void> {
  const over = new AbortController();
  const ended = AbortSignal.any([signal, over.signal]);
  const asking = async (): Promise<void> => {
    await started;
    const some = shuffled(members.peers.filter(({ isUp }) => isUp)).slice(0, maxAsked);
    await inParallel(
      some,
      askedAtOnce,
      async (peer) => {
        const told = await peer.get(name, { isAhead: true, timeoutMs });
        const bytes = told?.hit?.packed;
        if (bytes === undefined) return;
        ended.throwIfAborted();
        try {
          if (bytes.byteLength > largestSnapshot)
            throw new Error(`it is larger than ${largestSnapshot} bytes`);
          await use(bytes, ended);
        } catch (error) {
          ended.throwIfAborted();
          house.log.warn('cannot use the snapshot of a peer', {
            'peer.address': peer.address.text,
            name,
            error,
          });
        }
      },
      ended,
    );
  };
  const late = sleep(timeoutMs, { signal, ref: false });
  try {
    await Promise.race([asking(), late]);
  } catch (error) {
    if (signal.aborted || !ended.aborted) throw error;
  } finally {
    over.abort();
    late.catch(() => undefined);
  }
}

function shuffled(peers: readonly Peer[]): readonly Peer[] {
  return peers
    .map((peer) => ({ peer, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ peer }) => peer);
}
