import { placeText } from './pipeline/located.js';
import type { LoadedPlugin, Pipeline } from './pipeline/types.js';
import type {
  Endpoint,
  Lifecycle,
  OwnRoute,
  RouteHandler,
  Stage,
  UpgradeHandler,
} from './plugin/contract.js';
import type { SlotName } from './plugin/slots.js';
import type { MetricSpecs } from '../base/meters.js';
import type { Host } from './plugin/host.js';
import type { Route } from '../wire/routes-table.js';
import { type ChainLink, holdToAnyAnswer } from './chain.js';
import type { StageMeter } from './stage-meter.js';
import { PluginFailure, type Unit } from './lifecycle.js';
import type { Lives, Registrations } from './plugin/life.js';
import { OwnRoutes } from './own-routes.js';
import { blame, type PluginPlace } from './blame.js';

/** Creates the host for one plugin, whose log records name a component. */
export type HostFor = (
  pluginId: string,
  metrics: MetricSpecs,
  component: string,
  registered: Registrations,
) => Host;

/** Dependencies with which plugins are made. */
interface BuildDeps {
  readonly hostFor: HostFor;
  readonly meterFor: (stageId: string) => StageMeter;
  /** The live plugins of the process. */
  readonly lives: Lives;
  /** Key that identifies the plugin, in addition to its definition: a live plugin with the same key is reused. */
  readonly keyOf: (loaded: LoadedPlugin) => string;
}

/** The plugin instances of a pipeline, connected but not started. */
export interface Built {
  readonly links: readonly ChainLink[];
  readonly handlers: ReadonlyMap<string, RouteHandler>;
  /** All routes by id: built-in ones, and those that plugins define. */
  readonly routes: ReadonlyMap<string, Route>;
  readonly upgrades: ReadonlyMap<string, UpgradeHandler>;
  /** In start order: services, stages from the last to the first, endpoints. */
  readonly units: readonly Unit[];
}

/**
 * Creates every plugin of a pipeline that is not live yet. An Error names the plugin and its position in the file; plugins created before
 * the error are released.
 */
export function buildPlugins(pipeline: Pipeline, deps: BuildDeps): Built {
  const units: Unit[] = [];
  try {
    return connect(pipeline, deps, units);
  } catch (error) {
    for (const { life } of units) {
      life.hold();
      if (life.release() && !life.isStarted) life.registered.end();
    }
    throw error;
  }
}

/** Creates and connects the plugins. `units` receives those created so far, even if a later one fails. */
function connect(pipeline: Pipeline, deps: BuildDeps, units: Unit[]): Built {
  const take = <Made extends Lifecycle>(
    loaded: LoadedPlugin,
    make: (host: Host) => Made,
  ): { readonly unit: Unit; readonly made: Made } => {
    const { id, plugin } = loaded;
    const key = `${deps.lives.numberOf(plugin)} ${deps.keyOf(loaded)}`;
    const life = failingAs(loaded, () =>
      deps.lives.take(key, id, (registered) =>
        make(deps.hostFor(id, plugin.metrics ?? {}, plugin.component ?? id, registered)),
      ),
    );
    const unit = { ...placeOf(loaded), life };
    units.push(unit);
    return { unit, made: life.lifecycle };
  };
  const services = pipeline.services.map(
    (loaded) => take(loaded, (host) => madeObject(loaded.plugin.create(loaded.options, host))).unit,
  );
  const links: ChainLink[] = [];
  const stages: Unit[] = [];
  const routes = new OwnRoutes();
  const handlers = new Map<string, RouteHandler>();
  const serve = (loaded: LoadedPlugin, served: Endpoint['routes'], servesAdmin = false): void => {
    checkRoutes(served, routes.byId, servesAdmin);
    claim(answering(loaded, served), handlers);
  };
  for (const loaded of pipeline.stages) {
    const { plugin } = loaded;
    const { unit, made: stage } = take(loaded, (host) => madeStage(plugin.create(loaded.options, host)));
    stages.push(unit);
    const { rest, gives } = plugin;
    links.push({ ...placeOf(loaded), rest, gives, stage, meter: deps.meterFor(loaded.id) });
    const { routes: served } = stage;
    if (served !== undefined) failingAs(loaded, () => serve(loaded, served, plugin.servesAdmin));
  }
  const endpoints: Unit[] = [];
  const upgrades = new Map<string, UpgradeHandler>();
  for (const loaded of pipeline.endpoints) {
    const { plugin } = loaded;
    const { ownRoutes = [] } = plugin;
    const { unit, made: endpoint } = take(loaded, (host) =>
      madeEndpoint(plugin.create(loaded.options, host), ownRoutes),
    );
    endpoints.push(unit);
    failingAs(loaded, () => {
      routes.add(ownRoutes);
      serve(loaded, endpoint.routes, plugin.servesAdmin);
      claim(blaming(loaded, endpoint.upgrades ?? new Map<string, UpgradeHandler>()), upgrades);
    });
  }
  return {
    links,
    handlers,
    routes: routes.byId,
    upgrades,
    units: [...services, ...stages.reverse(), ...endpoints],
  };
}

/** Checks the result of `create`, which may not have been type-checked. */
function madeObject(made: unknown): object {
  if (typeof made !== 'object' || made === null) throw new Error('create returned no object');
  return made;
}

function madeStage(created: unknown): Stage<SlotName, SlotName> {
  const made = madeObject(created);
  if (!('handle' in made) || typeof made.handle !== 'function')
    throw new Error('create returned a stage without handle(exchange, rest)');
  if ('routes' in made && made.routes !== undefined) requireHandlers<RouteHandler>('routes', made.routes);
  // `handle` exists; the other hooks are optional and looked up by name.
  return made as Stage<SlotName, SlotName>;
}

function madeEndpoint(created: unknown, own: readonly OwnRoute[]): Endpoint {
  const made = madeObject(created);
  const {
    routes,
    upgrades = new Map<string, UpgradeHandler>(),
  }: { readonly routes?: unknown; readonly upgrades?: unknown } = made;
  requireHandlers<RouteHandler>('routes', routes);
  requireHandlers<UpgradeHandler>('upgrades', upgrades);
  const unserved = own.find(({ id }) => !routes.has(id) && !upgrades.has(id));
  if (unserved !== undefined)
    throw new Error(`the route "${unserved.id}" in ownRoutes has no handler in routes`);
  // Not a copy, since its other hooks may be on a prototype. Everything that is used has been checked.
  return made as Endpoint;
}

function requireHandlers<Handler>(
  part: string,
  handlers: unknown,
): asserts handlers is ReadonlyMap<string, Handler> {
  if (!(handlers instanceof Map))
    throw new Error(`create returned ${part} that are not a Map from route ids to handlers`);
  const odd = [...handlers].find(([, handler]) => typeof handler !== 'function');
  if (odd !== undefined)
    throw new Error(`the handler of the route "${String(odd[0])}" in ${part} is not a function`);
}

/** The handlers of a plugin, each of which must return an answer. */
function answering(loaded: LoadedPlugin, routes: Endpoint['routes']): Endpoint['routes'] {
  const whose = placeOf(loaded);
  return blaming(loaded, routes, (answer) => holdToAnyAnswer(whose, answer));
}

/** The handlers of a plugin; errors are attributed to it. */
function blaming<Call, Answered>(
  loaded: LoadedPlugin,
  handlers: ReadonlyMap<string, (call: Call) => Promise<Answered>>,
  check: (answered: Answered) => void = () => undefined,
): ReadonlyMap<string, (call: Call) => Promise<Answered>> {
  const whose = placeOf(loaded);
  const blamed = [...handlers].map(
    ([id, handler]) =>
      [
        id,
        async (call: Call) => {
          try {
            const answered = await handler(call);
            check(answered);
            return answered;
          } catch (error) {
            throw blame(error, whose);
          }
        },
      ] as const,
  );
  return new Map(blamed);
}

/** Checks that plugins serve exactly the routes they declare, and that all of them exist. */
function checkRoutes(
  routes: Endpoint['routes'],
  known: ReadonlyMap<string, Route>,
  servesAdmin: boolean,
): void {
  const unknown = [...routes.keys()].find((id) => !known.has(id));
  if (unknown !== undefined) throw new Error(`unknown route "${unknown}": declare it in ownRoutes`);
  const admin = [...routes.keys()].find((id) => known.get(id)?.listener === 'admin');
  if (admin !== undefined && !servesAdmin)
    throw new Error(`route "${admin}" is on the admin listener: declare servesAdmin`);
}

function claim<Handler>(from: ReadonlyMap<string, Handler>, to: Map<string, Handler>): void {
  for (const [route, handler] of from) {
    if (to.has(route)) throw new Error(`route "${route}" is already served by a plugin above`);
    to.set(route, handler);
  }
}

function failingAs<Made>(loaded: LoadedPlugin, make: () => Made): Made {
  try {
    return make();
  } catch (error) {
    throw new PluginFailure(placeOf(loaded), 'create', error);
  }
}

function placeOf({ id, plugin, at }: LoadedPlugin): PluginPlace & Pick<Unit, 'at'> {
  return { id, kind: plugin.kind, plugin: plugin.name, at: placeText(at) };
}
