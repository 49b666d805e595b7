import { apiError } from '../base/errors/table.js';
import { isLoopback, parseListenAddress } from '../base/listen-address.js';
import type { MemoryPool } from '../base/memory/account.js';
import { ofKey } from '../base/memory/byte-lru.js';
import type { ServerOptions, TelemetryOptions } from '../base/options.gen.js';
import type { Run } from '../kernel/chain.js';
import type { RouteHandler, UpgradeHandler } from '../kernel/plugin/contract.js';
import type { RequestObserver } from '../kernel/telemetry/request-log.js';
import type { ListenerName, Route } from '../wire/routes-table.js';
import type { ServedRoute } from './serve-route.js';
import type { ServedUpgrade } from './upgrade.js';

/** Routes and stages of one pipeline. */
export interface Served {
  readonly server: ServerOptions;
  readonly telemetry: Pick<TelemetryOptions, 'registerInstrumentation'>;
  /** Handlers of all endpoint plugins, by route id. */
  readonly handlers: ReadonlyMap<string, RouteHandler>;
  /** All routes that may have a handler, by id. */
  readonly routes: ReadonlyMap<string, Route>;
  /** Handlers of WebSocket requests, by route id. */
  readonly upgrades?: ReadonlyMap<string, UpgradeHandler>;
  readonly hideSecrets: (text: string) => string;
  readonly run: Run;
  readonly memory: Pick<MemoryPool, 'open'>;
  readonly observer: RequestObserver;
}

export interface ListenerPlan {
  readonly flag: string;
  readonly address: string;
  readonly routes: ServedRoute[];
  readonly upgrades: ServedUpgrade[];
}

/**
 * Decides which listener serves which routes (docs/protocol/operation.md#listeners-and-admin-routes). The main listener always exists, the
 * others only if they have routes.
 */
export function planListeners(
  { server, telemetry, handlers, upgrades, routes }: Served,
  workerSocket: string | undefined,
): ReadonlyMap<ListenerName, ListenerPlan> {
  const plans = new Map<ListenerName, ListenerPlan>([
    ['main', { flag: '-listen', address: server.listen, routes: [], upgrades: [] }],
  ]);
  const planOf = (name: ListenerName, flag: string, address: string): ListenerPlan =>
    ofKey(plans, name, () => ({ flag, address, routes: [], upgrades: [] }));
  /** The plan of a route's listener; undefined if there is none. */
  const planFor = ({ listener }: Route): ListenerPlan | undefined => {
    if (listener === 'workers')
      return workerSocket === undefined ? undefined : planOf('workers', 'workers', workerSocket);
    if (listener === 'admin' && server.adminAuthToken === undefined)
      return planOf('admin', '-admin-listen', server.adminListen);
    if (listener === 'metrics' && server.metricsListen !== undefined)
      return planOf('metrics', '-metrics-listen', server.metricsListen);
    return planOf('main', '-listen', server.listen);
  };
  const routeOf = (id: string): Route => {
    const route = routes.get(id);
    if (route === undefined) throw new Error(`a plugin serves the unknown route "${id}"`);
    return route;
  };
  for (const [id, given] of handlers) {
    const route = routeOf(id);
    const isOff = route.isInstrumentation === true && !telemetry.registerInstrumentation;
    planFor(route)?.routes.push({ route, handler: isOff ? notRegistered : given });
  }
  for (const [id, handler] of upgrades ?? []) {
    const route = routeOf(id);
    planFor(route)?.upgrades.push({ route, handler });
  }
  return plans;
}

const notRegistered: RouteHandler = () =>
  Promise.reject(apiError('routeOff', { flag: '-server.register-instrumentation' }));

/** Prevents a start with insecure settings (docs/protocol/errors-and-limits.md#unsafe-settings). */
export function refuseUnsafe({ server, telemetry, handlers, routes }: Served): void {
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

/** Maximum number of file descriptors that client connections leave for calls to the backend, files and threads. */
const maxReserved = 512;

/**
 * The maximum number of connections of a listener, so that clients never take the last descriptor: half of all descriptors, or all but 512
 * if that is more, for the main listener, and an eighth for each of the others.
 */
export function maxConnections(name: ListenerName, maxOpenFiles = Infinity): number {
  const share = name === 'main' ? Math.max(maxOpenFiles / 2, maxOpenFiles - maxReserved) : maxOpenFiles / 8;
  return Math.min(Math.floor(share), 2 ** 31 - 1);
}
