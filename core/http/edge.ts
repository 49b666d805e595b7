import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { ServerOptions } from '../base/options.gen.js';
import type { Meters } from '../base/meters.js';
import type { Logger } from '../base/logger.js';
import type { Clock } from '../base/clock.js';
import { apiError } from '../base/errors/table.js';
import { parseListenAddress } from '../base/listen-address.js';
import { createApp } from './app.js';
import type { connectionMetrics, fastLaneMetrics } from '../kernel/telemetry/metrics-table.js';
import { createAdmission, InFlight } from './admission.js';
import { Connections, type OnThrow, type TlsMaterial } from './guarded-server.js';
import { FastLane } from './fast-lane.js';
import {
  createListenerServer,
  cutOff,
  listen,
  listenOnSocket,
  readTls,
  showsForeignCertificate,
  useOptions,
  type Listener,
  type Urls,
} from './listener.js';
import { asError } from '../base/guard-events.js';
import {
  maxConnections,
  planListeners,
  refuseUnsafe,
  type ListenerPlan,
  type Served,
} from './listener-plans.js';
import type { Shortages } from '../kernel/telemetry/shortages.js';
import type { ListenerName } from '../wire/routes-table.js';
import { Upgrades } from './upgrade.js';
import { startInterval, startTimer } from '../base/time/waits.js';

/** Dependencies shared by all listeners of a process. */
export interface EdgeDeps {
  readonly meters: Meters<typeof connectionMetrics & typeof fastLaneMetrics>;
  readonly log: Logger;
  readonly clock: Clock;
  readonly shortages: Shortages;
  /** The limit of file descriptors; undefined if the system does not report it. */
  readonly maxOpenFiles?: number | undefined;
  /** Path of the socket for the other workers; undefined for none. */
  readonly workerSocket?: string | undefined;
  /** True if the other workers listen on the same addresses. */
  readonly isShared: boolean;
}

/** Time for aborted requests to send their error before their sockets are closed. */
const errorDeliveryMs = 1_000;

/** An open listener, with the address from the options. */
interface Open {
  readonly listener: Listener;
  readonly address: string;
  readonly isTls: boolean;
}

/** A pipeline that is ready to be served: its listeners are open. */
export interface Prepared {
  /** Routes new requests to it. Listeners that it does not have are closed once their requests have ended. */
  commit(): Serving;
  /** Closes everything that was opened for it. */
  discard(): Promise<void>;
}

/**
 * The listeners of a process. They outlive pipelines: each request is served to its end by the pipeline that was current when it arrived.
 */
export class Edge {
  readonly #deps: EdgeDeps;
  readonly #connections: Connections;
  readonly #listeners = new Map<ListenerName, Open>();
  /** Listeners closed by a reload, until their last connection has ended. */
  readonly #closing = new Set<Open>();
  /** All pipelines that still have requests, including the current one. */
  readonly #serving = new Set<Serving>();
  #current: Serving | undefined;

  constructor(server: ServerOptions, deps: EdgeDeps) {
    this.#deps = deps;
    this.#connections = new Connections(server, deps.clock, deps.meters);
  }

  get urls(): Urls {
    return urlsOf(this.#listeners);
  }

  /**
   * Opens the listeners that a pipeline needs and that are not open yet. On failure it closes them and throws an Error that names the flag.
   */
  async prepare(served: Served): Promise<Prepared> {
    refuseUnsafe(served);
    const tls = await readTls(served.server);
    const plans = planListeners(served, this.#deps.workerSocket);
    const serving = new Serving(served, plans, this.#deps, this.#connections, this.#onThrow);
    const opened = new Map<ListenerName, Open>();
    const discard = async (): Promise<void> => {
      await Promise.all([...opened.values()].map(({ listener }) => cutOff(listener)));
    };
    try {
      for (const [name, plan] of plans) {
        const ofMain = name === 'main' ? tls : undefined;
        const open = this.#listeners.get(name);
        if (open?.address === plan.address && open.isTls === (ofMain !== undefined)) continue;
        if (open !== undefined && samePort(open.address, plan.address))
          throw new Error(`${plan.flag}: the change from ${open.address} to ${plan.address} needs a restart`);
        const listener = await this.#open(name, plan, ofMain, served.server);
        opened.set(name, { listener, address: plan.address, isTls: ofMain !== undefined });
      }
    } catch (error) {
      await discard();
      throw error;
    }
    return { discard, commit: () => this.#commit(serving, plans, opened, tls) };
  }

  #commit(
    serving: Serving,
    plans: ReadonlyMap<ListenerName, ListenerPlan>,
    opened: ReadonlyMap<ListenerName, Open>,
    tls: TlsMaterial | undefined,
  ): Serving {
    const { server } = serving;
    this.#connections.use(server);
    this.#current?.retire();
    this.#current = serving;
    this.#serving.add(serving);
    serving.onGone = () => this.#serving.delete(serving);
    for (const [name, open] of this.#listeners) {
      if (plans.has(name) && !opened.has(name)) {
        useOptions(open.listener.server, server, name === 'main' ? tls : undefined);
        continue;
      }
      this.#listeners.delete(name);
      void this.#closeOld(open, server.drainTimeout);
    }
    for (const [name, open] of opened) this.#listeners.set(name, open);
    return serving;
  }

  /** Closes a listener that is no longer needed, once its connections have ended. */
  async #closeOld(open: Open, boundMs: number): Promise<void> {
    this.#closing.add(open);
    const { server } = open.listener;
    const closed = open.listener.close();
    // A connection becomes idle after its answer, and would then wait for the next request.
    const idle = startInterval(() => server.closeIdleConnections(), 100).unref();
    const overdue = startTimer(() => server.closeAllConnections(), boundMs).unref();
    await closed;
    clearInterval(idle);
    clearTimeout(overdue);
    this.#closing.delete(open);
  }

  /** Makes every response ask its client to close the connection; new connections are still accepted. */
  leave(): void {
    this.#connections.drain();
  }

  /** Stops accepting, lets running requests finish within `-drain-timeout`, then aborts the rest with an error. */
  async close(): Promise<void> {
    const boundMs = this.#current?.server.drainTimeout ?? 0;
    this.#connections.drain();
    const all = [...this.#listeners.values(), ...this.#closing];
    const closed = all.map(({ listener }) => listener.close());
    await Promise.all([...this.#serving].map((serving) => serving.close(boundMs)));
    for (const { listener } of all) listener.server.closeAllConnections();
    await Promise.all(closed);
  }

  /** A defect in serving a connection closes that connection. */
  readonly #onThrow: OnThrow = (error, socket) => {
    if (!this.#deps.shortages.took(error)) this.#deps.log.error('HTTP handling failed', { error });
    if (socket !== undefined) this.#connections.cut(socket, 'defect');
  };

  #refused(flag: string, most: number): void {
    this.#connections.refused('descriptors');
    this.#deps.shortages.tell(
      'refusing connections because file descriptors run out: raise their limit (ulimit -n, LimitNOFILE in systemd)',
      { listener: flag, 'connections.max': most, 'process.max_fds': this.#deps.maxOpenFiles },
    );
  }

  #take(name: ListenerName, request: IncomingMessage, response: ServerResponse): void {
    // A request that arrives before the process serves waits for later turns of the event loop.
    if (this.#current !== undefined) this.#current.take(name, request, response);
    else
      setImmediate(() => {
        try {
          this.#take(name, request, response);
        } catch (error) {
          this.#onThrow(asError(error), request.socket);
        }
      });
  }

  async #open(
    name: ListenerName,
    plan: ListenerPlan,
    tls: TlsMaterial | undefined,
    options: ServerOptions,
  ): Promise<Listener> {
    const { log, workerSocket, isShared } = this.#deps;
    const connections = this.#connections;
    const server = createListenerServer(
      (request, response) => this.#take(name, request, response),
      options,
      tls,
      this.#onThrow,
    );
    server.maxConnections = maxConnections(name, this.#deps.maxOpenFiles);
    server.on('drop', () => this.#refused(plan.flag, server.maxConnections));
    connections.watch(server, tls === undefined ? 'connection' : 'secureConnection');
    server.on('clientError', (error, socket) => {
      if (socket instanceof Socket) connections.refuseBroken(error, socket);
    });
    server.on('secureConnection', (socket: TLSSocket) => {
      if (!showsForeignCertificate(socket)) return;
      log.warn('client certificate refused', {
        'client.address': socket.remoteAddress ?? '',
        'error.message': String(socket.authorizationError),
      });
      connections.cut(socket, 'certificate');
    });
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) =>
      this.#current?.upgrades.take(name, server, request, socket, head),
    );
    if (plan.address === workerSocket) return listenOnSocket(server, plan.address);
    return listen(server, { ...plan, isTls: tls !== undefined, isShared });
  }
}

/** The handlers of a listener. */
interface ServedListener {
  readonly fastLane: FastLane | undefined;
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
}

/** A pipeline that takes requests, and after a reload only finishes those it has. */
export class Serving {
  readonly server: ServerOptions;
  readonly upgrades: Upgrades;
  onGone: () => void = () => undefined;
  readonly #inFlight = new InFlight<AbortController>();
  readonly #connections: Connections;
  readonly #log: Logger;
  readonly #listeners = new Map<ListenerName, ServedListener>();

  constructor(
    served: Served,
    plans: ReadonlyMap<ListenerName, ListenerPlan>,
    { clock, meters, log }: EdgeDeps,
    connections: Connections,
    onThrow: OnThrow,
  ) {
    const { server: options, run, memory, observer, hideSecrets: hide } = served;
    this.server = options;
    this.#log = log;
    this.#connections = connections;
    const inFlight = this.#inFlight;
    const parts = {
      options,
      run,
      memory,
      inFlight,
      connections,
      observer,
      meters,
      log,
      clock,
      hide,
      onThrow,
    };
    this.upgrades = new Upgrades(parts);
    for (const [name, { routes, upgrades }] of plans) {
      const admit = createAdmission(name, options);
      this.upgrades.serve(name, upgrades, admit);
      const fastLane = name === 'main' && options.httpFastLane ? new FastLane(parts) : undefined;
      const app = createApp({ ...parts, routes, admit, fastLane });
      const serve = app.callback();
      const handle = (request: IncomingMessage, response: ServerResponse): void => {
        serve(request, response).catch((error: unknown) => onThrow(asError(error), request.socket));
      };
      this.#listeners.set(name, { fastLane, handle });
    }
  }

  /** Number of requests and WebSockets that have not ended. */
  get open(): number {
    return this.#inFlight.count + this.upgrades.open;
  }

  get answering(): number {
    return this.#inFlight.count;
  }

  /** Serves a request of a listener. */
  take(name: ListenerName, request: IncomingMessage, response: ServerResponse): void {
    const listener = this.#listeners.get(name);
    if (listener === undefined) {
      // This listener is about to close, and the pipeline does not have it.
      response.writeHead(404, { Connection: 'close' }).end();
      return;
    }
    if (listener.fastLane?.serve(request, response) === true) return;
    if (this.#connections.admit(request, response)) listener.handle(request, response);
  }

  /** Called when it gets no more requests: it stops learning for the fast lane. */
  retire(): void {
    for (const { fastLane } of this.#listeners.values()) fastLane?.close();
  }

  /**
   * Lets open requests end within a time limit, then aborts the rest with an error. WebSockets do not end by themselves, so they are closed
   * at once.
   */
  async close(boundMs: number): Promise<void> {
    this.retire();
    await Promise.all([this.upgrades.close(errorDeliveryMs), this.#drain(boundMs)]);
    this.gone();
  }

  /** Called when nothing of it is open any more. */
  gone(): void {
    this.#listeners.clear();
    this.onGone();
  }

  async #drain(boundMs: number): Promise<void> {
    if (await this.#inFlight.drained(boundMs)) return;
    this.#log.warn('aborting requests that exceeded the drain timeout', {
      'requests.in_flight': this.#inFlight.count,
    });
    for (const controller of this.#inFlight.all) controller.abort(apiError('stopping', {}));
    await this.#inFlight.drained(errorDeliveryMs);
  }
}

/** True if two addresses have the same port and cannot both be open: the existing listener would have to close first. */
function samePort(open: string, wanted: string): boolean {
  const [one, other] = [parseListenAddress(open)?.port, parseListenAddress(wanted)?.port];
  return one !== 0 && one === other;
}

function urlsOf(listeners: ReadonlyMap<ListenerName, Open>): Urls {
  const [main, admin, metrics] = (['main', 'admin', 'metrics'] as const).map(
    (name) => listeners.get(name)?.listener,
  );
  return {
    main: main?.url ?? '',
    ...(admin === undefined ? {} : { admin: admin.url }),
    ...(metrics === undefined ? {} : { metrics: metrics.url }),
  };
}
