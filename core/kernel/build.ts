import type { LoadedPlugin, Pipeline } from './pipeline/types.js';
import type {
  Endpoint,
  Lifecycle,
  OwnRoute,
  Plugin,
  RouteHandler,
  Stage,
  UpgradeHandler,
} from './plugin/contract.js';
import type { SlotName } from './plugin/slots.js';
import type { MetricSpecs } from '../base/meters.js';
import type { Host } from './plugin/host.js';
import type { Route } from '../wire/routes-table.js';
import type { ChainLink } from './chain.js';
import type { StageMeter } from './stage-meter.js';
import { PluginFailure, type Unit } from './lifecycle.js';
import { OwnRoutes } from './own-routes.js';
import { blame, type PluginPlace } from './blame.js';
import { holdToAnyAnswer } from './stage-contract.js';

/** Makes the host for one plugin, whose log records name a component. */
export type HostFor = (pluginId: string, metrics: MetricSpecs, component: string) => Host;

/** The plugin instances of a pipeline, connected but not started. */
export interface Built {
  readonly links: readonly ChainLink[];
  readonly handlers: ReadonlyMap<string, RouteHandler>;
  /** All routes by id: built-in ones and those that plugins define. */
  readonly routes: ReadonlyMap<string, Route>;
  readonly upgrades: ReadonlyMap<string, UpgradeHandler>;
  /** In start order: services, stages from the last to the first, endpoints. */
  readonly units: readonly Unit[];
}

/** Creates every plugin of a pipeline. An Error names the plugin and its place in the file. `meterFor` gives each stage its meter. */
export function buildPlugins(
  pipeline: Pipeline,
  hostFor: HostFor,
  meterFor: (stageId: string) => StageMeter,
): Built {
  const services = pipeline.services.map((loaded) => unitOf(loaded, createAs(loaded, 'service', hostFor)));
  const links: ChainLink[] = [];
  const stages: Unit[] = [];
  const routes = new OwnRoutes();
  const handlers = new Map<string, RouteHandler>();
  for (const loaded of pipeline.stages) {
    const { plugin } = loaded;
    if (plugin.kind !== 'stage') throw wrongKind(loaded, 'stage');
    const stage = create(loaded, () => {
      const made: unknown = plugin.create(loaded.options, hostOf(loaded, plugin, hostFor));
      return madeStage(made);
    });
    links.push({
      ...placeOf(loaded),
      rest: plugin.rest,
      gives: plugin.gives,
      stage,
      meter: meterFor(loaded.id),
    });
    if (stage.routes !== undefined) {
      checkRoutes(loaded, stage.routes, routes.byId, false);
      claim(loaded, answering(loaded, stage.routes), handlers);
    }
    stages.push(unitOf(loaded, stage));
  }
  const endpoints: Unit[] = [];
  const upgrades = new Map<string, UpgradeHandler>();
  for (const loaded of pipeline.endpoints) {
    const { plugin } = loaded;
    if (plugin.kind !== 'endpoint') throw wrongKind(loaded, 'endpoint');
    const endpoint = create(loaded, () => {
      const made: unknown = plugin.create(loaded.options, hostOf(loaded, plugin, hostFor));
      routes.add(plugin.ownRoutes ?? []);
      return madeEndpoint(made, plugin.ownRoutes ?? []);
    });
    checkRoutes(loaded, endpoint.routes, routes.byId, plugin.servesAdmin === true);
    claim(loaded, answering(loaded, endpoint.routes), handlers);
    claim(loaded, upgrading(loaded, endpoint.upgrades), upgrades);
    endpoints.push(unitOf(loaded, endpoint));
  }
  return {
    links,
    handlers,
    routes: routes.byId,
    upgrades,
    units: [...services, ...stages.reverse(), ...endpoints],
  };
}

/** What `create` of a stage gave, which nobody need have type-checked. */
function madeStage(made: unknown): Stage<SlotName, SlotName> {
  if (!isObject(made)) throw new Error('create returned no object');
  if (!('handle' in made) || typeof made.handle !== 'function')
    throw new Error('create returned a stage without handle(exchange, rest)');
  if ('routes' in made && made.routes !== undefined) requireHandlers<RouteHandler>('routes', made.routes);
  // Its handle is there; the other hooks are optional and asked for by name.
  return made as Stage<SlotName, SlotName>;
}

function madeEndpoint(made: unknown, own: readonly OwnRoute[]): Endpoint {
  if (!isObject(made)) throw new Error('create returned no object');
  const {
    routes,
    upgrades = new Map<string, UpgradeHandler>(),
  }: { readonly routes?: unknown; readonly upgrades?: unknown } = made;
  requireHandlers<RouteHandler>('routes', routes);
  requireHandlers<UpgradeHandler>('upgrades', upgrades);
  const unserved = own.find(({ id }) => !routes.has(id) && !upgrades.has(id));
  if (unserved !== undefined)
    throw new Error(`the route "${unserved.id}" of ownRoutes has no handler in routes`);
  // Not a copy: its other hooks may stand on a prototype. All that is asked of it has been checked.
  return made as Endpoint;
}

function requireHandlers<Handler>(
  part: string,
  handlers: unknown,
): asserts handlers is ReadonlyMap<string, Handler> {
  if (!(handlers instanceof Map))
    throw new Error(`create returned ${part} that are no Map from ids of routes to handlers`);
  const odd = [...handlers].find(([, handler]) => typeof handler !== 'function');
  if (odd !== undefined)
    throw new Error(`the handler of the route "${String(odd[0])}" in ${part} is no function`);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** The handlers of a plugin, each held to give an answer; what it throws is noted as the plugin's. */
function answering(loaded: LoadedPlugin, routes: Endpoint['routes']): Endpoint['routes'] {
  const whose = placeOf(loaded);
  return mapped(routes, (handler) => async (call) => {
    try {
      const answer = await handler(call);
      holdToAnyAnswer(whose, answer);
      return answer;
    } catch (error) {
      throw blame(error, whose);
    }
  });
}

function upgrading(
  loaded: LoadedPlugin,
  upgrades: Endpoint['upgrades'] = new Map<string, UpgradeHandler>(),
): ReadonlyMap<string, UpgradeHandler> {
  const whose = placeOf(loaded);
  return mapped(upgrades, (handler) => async (call) => {
    try {
      await handler(call);
    } catch (error) {
      throw blame(error, whose);
    }
  });
}

function mapped<Handler>(
  from: ReadonlyMap<string, Handler>,
  change: (handler: Handler) => Handler,
): ReadonlyMap<string, Handler> {
  return new Map([...from].map(([id, handler]) => [id, change(handler)]));
}

/** Checks that plugins serve exactly the routes they declare, and that all of them exist. */
function checkRoutes(
  loaded: LoadedPlugin,
  routes: Endpoint['routes'],
  known: ReadonlyMap<string, Route>,
  servesAdmin: boolean,
): void {
  const unknown = [...routes.keys()].find((id) => !known.has(id));
  if (unknown !== undefined)
    throw new PluginFailure(
      place(loaded),
      'create',
      `there is no route "${unknown}": declare it in ownRoutes`,
    );
  const admin = [...routes.keys()].find((id) => known.get(id)?.listener === 'admin');
  if (admin !== undefined && !servesAdmin)
    throw new PluginFailure(
      place(loaded),
      'create',
      `route "${admin}" is of the admin listener: declare servesAdmin`,
    );
}

function claim<Handler>(
  loaded: LoadedPlugin,
  from: ReadonlyMap<string, Handler>,
  to: Map<string, Handler>,
): void {
  for (const [route, handler] of from) {
    if (to.has(route))
      throw new PluginFailure(place(loaded), 'create', `route "${route}" is served by a plugin above`);
    to.set(route, handler);
  }
}

function createAs(loaded: LoadedPlugin, kind: 'service', hostFor: HostFor): Lifecycle {
  const { plugin } = loaded;
  if (plugin.kind !== kind) throw wrongKind(loaded, kind);
  return create(loaded, () => {
    const made: unknown = plugin.create(loaded.options, hostOf(loaded, plugin, hostFor));
    if (!isObject(made)) throw new Error('create returned no object');
    return made;
  });
}

function create<Made>(loaded: LoadedPlugin, make: () => Made): Made {
  try {
    return make();
  } catch (error) {
    throw new PluginFailure(place(loaded), 'create', error);
  }
}

function hostOf(loaded: LoadedPlugin, plugin: Plugin, hostFor: HostFor): Host {
  return hostFor(loaded.id, plugin.metrics ?? {}, plugin.component ?? loaded.id);
}

function unitOf(loaded: LoadedPlugin, lifecycle: Lifecycle): Unit {
  return { ...place(loaded), lifecycle };
}

function place({ id, plugin, at }: LoadedPlugin): Pick<Unit, 'id' | 'kind' | 'at'> {
  return { id, kind: plugin.kind, at: `${at.file}:${at.line}:${at.column}` };
}

function placeOf(loaded: LoadedPlugin): PluginPlace {
  return { ...place(loaded), plugin: loaded.plugin.name };
}

function wrongKind(loaded: LoadedPlugin, wanted: string): PluginFailure {
  return new PluginFailure(
    place(loaded),
    'create',
    `"${loaded.use}" is no ${wanted} plugin but a ${loaded.plugin.kind} plugin`,
  );
}
