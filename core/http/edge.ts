import { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type Koa from 'koa';
import type { ServerOptions, TelemetryOptions } from '../base/options.gen.js';
import type { Meters } from '../base/meters.js';
import type { Logger } from '../base/logger.js';
import type { Clock } from '../base/clock.js';
import type { RouteHandler, UpgradeHandler } from '../kernel/plugin/contract.js';
import type { Run } from '../kernel/chain.js';
import type { MemoryPool } from '../base/memory/pool.js';
import type { RequestObserver } from '../kernel/telemetry/request-record.js';
import { apiError } from '../base/errors/table.js';
import { isLoopback, parseListenAddress } from '../base/listen-address.js';
import { createApp } from './app.js';
import type { connectionMetrics, fastLaneMetrics } from '../kernel/telemetry/metrics-table.js';
import { Connections } from './connections.js';
import { FastLane } from './fast-lane.js';
import { InFlight } from './in-flight.js';
import {
  createListenerServer,
  listen,
  listenOnSocket,
  readTls,
  showsForeignCertificate,
  type Listener,
  type TlsMaterial,
  type Urls,
} from './listener.js';
import type { ListenerName, Route } from '../wire/routes-table.js';
import type { ServedRoute } from './serve-route.js';
import { Upgrades } from './upgrade.js';

/** What the kernel passes to the HTTP edge. */
export interface EdgeSettings {
  readonly server: ServerOptions;
  readonly telemetry: TelemetryOptions;
  /** Handlers of all endpoint plugins, by route id. */
  readonly handlers: ReadonlyMap<string, RouteHandler>;
  /** All routes that may have a handler, by id. */
  readonly routes: ReadonlyMap<string, Route>;
  /** Handlers of WebSocket requests on the main listener, by route id. */
  readonly upgrades?: ReadonlyMap<string, UpgradeHandler>;
  readonly run: Run;
  readonly memory: Pick<MemoryPool, 'open'>;
  readonly observer: RequestObserver;
  readonly meters: Meters<typeof connectionMetrics & typeof fastLaneMetrics>;
  readonly log: Logger;
  readonly clock: Clock;
  /** Path of the socket for the other workers; none unless given. */
  readonly workerSocket?: string | undefined;
}

/** The open listeners of a proxy. */
export interface Edge {
  readonly urls: Urls;
  /** Stops accepting, lets running requests finish within `-drain-timeout`, then ends the rest with an error. */
  close(): Promise<void>;
}

/** How long aborted requests may take to send their error before their sockets are closed. */
const errorDeliveryMs = 1_000;

/** Opens the listeners. On failure it closes them all and throws an Error that names the flag. */
export async function openEdge(settings: EdgeSettings): Promise<Edge> {
  refuseUnsafe(settings);
  const tls = await readTls(settings.server);
  const inFlight = new InFlight();
  const connections = new Connections(settings.server, settings.clock, settings.meters);
  const upgrades = new Upgrades({
    ...settings,
    options: settings.server,
    handlers: settings.upgrades ?? new Map<string, UpgradeHandler>(),
  });
  const listeners = new Map<ListenerName, Listener>();
  const close = async (): Promise<void> => {
    // WebSockets do not end by themselves, so they are not drained.
    await Promise.all([upgrades.close(errorDeliveryMs), drain(listeners, inFlight, connections, settings)]);
  };
  try {
    for (const [name, plan] of planListeners(settings)) {
      const shared = {
        options: settings.server,
        inFlight,
        observer: settings.observer,
        clock: settings.clock,
        cutUnread: (socket: Socket) => connections.cut(socket, 'unread'),
      };
      const fastLane =
        name === 'main' && settings.server.httpFastLane
          ? new FastLane({
              ...shared,
              meters: settings.meters,
              connections,
            })
          : undefined;
      const app = createApp({
        ...shared,
        routes: plan.routes,
        run: settings.run,
        memory: settings.memory,
        fastLane,
        shouldClose: (context, status) => connections.shouldClose(context, status),
        refuseOver: (context) => connections.refuseOver(context),
        onDefect: (error) => settings.log.error('HTTP handling failed', { error }),
      });
      const listener = await open(app, fastLane, plan, {
        settings,
        connections,
        tls: name === 'main' ? tls : undefined,
      });
      if (name === 'main') upgrades.attach(listener.server);
      listeners.set(name, listener);
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { urls: urlsOf(listeners), close };
}

interface ListenerPlan {
  readonly flag: string;
  readonly address: string;
  readonly routes: ServedRoute[];
}

/**
 * Decides which listener serves which routes (docs/protocol/operation.md#listeners-and-admin-routes). The main one always exists, the
 * others when they serve something.
 */
function planListeners(settings: EdgeSettings): ReadonlyMap<ListenerName, ListenerPlan> {
  const { server, telemetry, handlers, routes } = settings;
  const plans = new Map<ListenerName, ListenerPlan>([
    ['main', { flag: '-listen', address: server.listen, routes: [] }],
  ]);
  const planOf = (name: ListenerName, flag: string, address: string): ListenerPlan => {
    const plan = plans.get(name) ?? { flag, address, routes: [] };
    plans.set(name, plan);
    return plan;
  };
  for (const [id, handler] of handlers) {
    const route = routes.get(id);
    if (route === undefined) throw new Error(`a plugin serves the route "${id}", which does not exist`);
    if (route.isInstrumentation === true && !telemetry.registerInstrumentation) continue;
    if (route.listener === 'workers') {
      if (settings.workerSocket !== undefined)
        planOf('workers', 'workers', settings.workerSocket).routes.push({ route, handler });
      continue;
    }
    const plan =
      route.listener === 'admin' && server.adminAuthToken === undefined
        ? planOf('admin', '-admin-listen', server.adminListen)
        : route.listener === 'metrics' && server.metricsListen !== undefined
          ? planOf('metrics', '-metrics-listen', server.metricsListen)
          : planOf('main', '-listen', server.listen);
    plan.routes.push({ route, handler });
  }
  return plans;
}

/** Refuses to start with insecure settings (docs/protocol/errors-and-limits.md#unsafe-settings). */
function refuseUnsafe({ server, telemetry, handlers, routes }: EdgeSettings): void {
  if (server.metricsListen !== undefined && !telemetry.registerInstrumentation) {
    throw new Error(
      `--metrics-listen=${server.metricsListen} requires -server.register-instrumentation=true; /metrics is not served without it`,
    );
  }
  const address = parseListenAddress(server.adminListen);
  const servesAdmin = [...handlers.keys()].some((id) => routes.get(id)?.listener === 'admin');
  if (servesAdmin && server.adminAuthToken === undefined && address !== undefined && !isLoopback(address)) {
    throw new Error(
      `server.admin-auth-token is required when admin/debug endpoints are enabled on non-loopback address ${server.adminListen}`,
    );
  }
}

/** What a listener is opened with, beside what it serves. */
interface Opening {
  readonly settings: EdgeSettings;
  readonly connections: Connections;
  readonly tls: TlsMaterial | undefined;
}

async function open(
  app: Koa,
  fastLane: FastLane | undefined,
  plan: ListenerPlan,
  { settings, connections, tls }: Opening,
): Promise<Listener> {
  // Koa's callback returns a promise that never rejects; the server expects a function without a result.
  const handle = app.callback();
  const server = createListenerServer(
    (request, response) => {
      if (fastLane?.serve(request, response) === true) return;
      if (connections.admit(request, response)) void handle(request, response);
    },
    settings.server,
    tls,
  );
  connections.watch(server, tls === undefined ? 'connection' : 'secureConnection');
  server.on('clientError', (error, socket) => {
    if (socket instanceof Socket) connections.refuseBroken(error, socket);
  });
  server.on('secureConnection', (socket: TLSSocket) => {
    if (!showsForeignCertificate(socket)) return;
    settings.log.warn('client certificate refused', {
      'client.address': socket.remoteAddress ?? '',
      'error.message': String(socket.authorizationError),
    });
    connections.cut(socket, 'certificate');
  });
  if (plan.address === settings.workerSocket) return listenOnSocket(server, plan.address);
  return listen(server, plan.flag, plan.address, tls !== undefined);
}

function urlsOf(listeners: ReadonlyMap<ListenerName, Listener>): Urls {
  const [main, admin, metrics] = [listeners.get('main'), listeners.get('admin'), listeners.get('metrics')];
  return {
    main: main?.url ?? '',
    ...(admin === undefined ? {} : { admin: admin.url }),
    ...(metrics === undefined ? {} : { metrics: metrics.url }),
  };
}

async function drain(
  listeners: ReadonlyMap<ListenerName, Listener>,
  inFlight: InFlight,
  connections: Connections,
  settings: EdgeSettings,
): Promise<void> {
  connections.drain();
  const closed = [...listeners.values()].map((listener) => listener.close());
  const isDrained = await inFlight.drained(settings.server.drainTimeout);
  if (!isDrained) {
    settings.log.warn('ending requests that are over the drain bound', {
      'requests.in_flight': inFlight.count,
    });
    inFlight.abortAll(apiError('stopping', {}));
    await inFlight.drained(errorDeliveryMs);
  }
  for (const { server } of listeners.values()) server.closeAllConnections();
  await Promise.all(closed);
}
