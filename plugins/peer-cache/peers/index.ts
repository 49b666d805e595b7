/** The cache that replicas share (L3): discovery of members, routes for their requests, and requests to them. */
import { setTimeout as wait } from 'node:timers/promises';
import { inParallel } from '../../../core/base/pace/in-parallel.js';
import { largestSnapshot, type Asking, fleetOf } from '../../../core/cache/fleet.js';
import { Members } from './members.js';
import { type Peer, type PeerHouse, createHouse } from './peer.js';
import type { PeerCacheOptions } from '../../../core/base/options.gen.js';
import type { AnswerStore } from '../../../core/cache/answer-store.js';
import { SpareTime, whileIdle } from '../../../core/cache/spare-time.js';
import { readOptionFile } from '../../../core/kernel/options/secret-file.js';
import type { Host, RouteHandler } from '../../../core/plugin/index.js';
import { parseAddress, type Address, type PeerTls, peerGate } from './client.js';
import { discoveryOf, type Discovery, Watch } from './discovery.js';
import type { peerMetrics } from './metrics.js';
import { PeerTier } from './peer-tier.js';
import { ReadAhead } from './read-ahead.js';
import { PeerRoutes } from './routes.js';

type PeerHost = Host<typeof peerMetrics>;

const purgesAtOnce = 16;

export class Peers {
  readonly #host: PeerHost;
  readonly #options: PeerCacheOptions;
  readonly #house: PeerHouse;
  readonly #members: Members;
  readonly #watch: Watch;
  readonly #tier: PeerTier;
  readonly #routes: PeerRoutes;
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
    this.#house = createHouse(options, host, token);
    this.#members = new Members(self, options.peerSelfAz, this.#house, (peers) => {
      host.meters.peer_cache_peers.set(peers, {});
      host.meters.peer_cache_cluster_members.set(peers + 1, {});
    });
    this.#tier = new PeerTier(options, this.#house, this.#members);
    this.#routes = new PeerRoutes({
      house: this.#house,
      members: this.#members,
      tier: this.#tier,
      options,
      fleet: fleetOf(host),
      gate: peerGate(token, (ip) => this.#members.has(ip)),
      purge: (tenantId) => host.purge('all', tenantId),
    });
    this.#watch = new Watch({
      discovery,
      members: this.#members,
      everyMs: options.peerDiscoveryInterval,
      needsIps: token === undefined,
      log: host.log,
      meters: host.meters,
    });
    const spare = new SpareTime(
      host,
      whileIdle(() => true),
    );
    this.#ahead = new ReadAhead({
      options,
      house: this.#house,
      members: this.#members,
      isFree: () => spare.isFree,
    });
    host.onStop(
      fleetOf(host).join({
        purge: (tenantId, news) => this.#purgeOthers(tenantId, news),
        ask: (asking) => askForSnapshots(asking, this.#house, this.#members, this.#started.promise),
      }),
    );
  }

  /** Routes for requests of other replicas. */
  get routes(): ReadonlyMap<string, RouteHandler> {
    return this.#routes.handlers;
  }

  /** Adds the other replicas behind the tiers of the store. */
  async start(store: AnswerStore): Promise<void> {
    const tls = await tlsOf(this.#options);
    if (tls !== undefined) this.#house.client.secure(tls);
    const front = this.#tier.attach(store, this.#host);
    await this.#watch.start();
    this.#ahead.start(front);
    this.#started.resolve();
  }

  stop(): void {
    this.#watch.stop();
    this.#ahead.stop();
    this.#house.client.close();
  }

  async #purgeOthers(tenantId?: string, news?: string): Promise<ReadonlyMap<string, string>> {
    const report = new Map<string, string>();
    const { signal } = new AbortController();
    await inParallel(
      this.#members.peers,
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
const longestTimerMs = 2 ** 31 - 1;

/** @param started resolves when the members are known */
export async function askForSnapshots(
  { name, timeoutMs: wantedMs, signal, use }: Asking,
  house: Pick<PeerHouse, 'log'>,
  members: Pick<Members, 'peers'>,
  started: Promise<void>,
): Promise<void> {
  const timeoutMs = Math.min(wantedMs, longestTimerMs);
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
  const late = wait(timeoutMs, undefined, { signal, ref: false });
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
