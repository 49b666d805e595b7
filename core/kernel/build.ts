import type { LoadedPlugin, Pipeline } from './pipeline/types.js';
import type { Endpoint, Lifecycle, Plugin, RouteHandler, UpgradeHandler } from './plugin/contract.js';
import type { MetricSpecs } from '../base/meters.js';
import type { Host } from './plugin/host.js';
import type { Route } from '../wire/routes-table.js';
import type { ChainLink } from './chain.js';
import type { StageMeter } from './stage-meter.js';
import { PluginFailure, type Unit } from './lifecycle.js';
import { OwnRoutes } from './own-routes.js';

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
    const stage = create(loaded, () => plugin.create(loaded.options, hostOf(loaded, plugin, hostFor)));
    links.push({ id: loaded.id, rest: plugin.rest, stage, meter: meterFor(loaded.id) });
    if (stage.routes !== undefined) {
      checkRoutes(loaded, stage.routes, routes.byId, false);
      claim(loaded, stage.routes, handlers);
    }
    stages.push(unitOf(loaded, stage));
  }
  const endpoints: Unit[] = [];
  const upgrades = new Map<string, UpgradeHandler>();
  for (const loaded of pipeline.endpoints) {
    const { plugin } = loaded;
    if (plugin.kind !== 'endpoint') throw wrongKind(loaded, 'endpoint');
    const endpoint: Endpoint = create(loaded, () =>
      plugin.create(loaded.options, hostOf(loaded, plugin, hostFor)),
    );
    create(loaded, () => routes.add(plugin.ownRoutes ?? []));
    checkRoutes(loaded, endpoint.routes, routes.byId, plugin.servesAdmin === true);
    claim(loaded, endpoint.routes, handlers);
    claim(loaded, endpoint.upgrades ?? new Map<string, UpgradeHandler>(), upgrades);
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
  return create(loaded, () => plugin.create(loaded.options, hostOf(loaded, plugin, hostFor)));
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

function wrongKind(loaded: LoadedPlugin, wanted: string): PluginFailure {
  return new PluginFailure(
    place(loaded),
    'create',
    `"${loaded.use}" is no ${wanted} plugin but a ${loaded.plugin.kind} plugin`,
  );
}
