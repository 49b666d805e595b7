/**
 * The plugin contract: the kernel connects the declarations of `defineStage`, `defineEndpoint` and `defineService` according to the
 * pipeline file. Plugins import it from `ref-proxy/plugin` (core/plugin).
 */
import type { Caller } from '../../base/caller.js';
import type { MetricSpecs } from '../../base/meters.js';
import type { Answer } from '../../wire/answer/types.js';
import type { ApiRequest } from '../../wire/api/request.js';
import type { SourcePosition } from '../pipeline/located.js';
import type { AdmitAgain, AnswerAgain, Exchange, ExchangeChange } from './exchange.js';

export type { AdmitAgain, AnswerAgain } from './exchange.js';
export type { RestUse } from './slots.js';
import type { Host, PurgeScope } from './host.js';
import type { RestUse, SlotName } from './slots.js';

/**
 * The rest of the chain after a stage. Without an argument it runs on the stage's own exchange; a derived exchange carries the slots that
 * the stage fills. May run as often as the stage's `rest` declares, including in parallel.
 */
export type Rest<Given extends SlotName = never> = (exchange: Exchange<Given>) => Promise<Answer>;

/** Life-cycle hooks, all optional. `create` opens no resources; `start` does. The kernel limits the time for each. */
export interface Lifecycle {
  /** Opens the plugin's resources. Downstream plugins start first. */
  start?(signal: AbortSignal): Promise<void> | void;
  /** Returns why the plugin is not ready, as shown by /ready; undefined if it is. */
  ready?(): Promise<string | undefined> | string | undefined;
  /** Called on SIGHUP or when a watched file has changed. An error is logged and the old state stays. */
  reload?(): Promise<void> | void;
  /** Empties the plugin's caches, for one tenant only if its id is given. */
  purge?(scope: PurgeScope, tenantId?: string): Promise<void> | void;
  /** Closes the resources that `start` opened, after in-flight requests have ended. Upstream plugins stop first. */
  stop?(): Promise<void> | void;
}

export interface Stage<Needs extends SlotName, Gives extends SlotName> extends Lifecycle {
  /** Answers an exchange, with or without the rest of the chain. Throws ApiError for errors that the client should see. */
  handle(exchange: Exchange<Needs>, rest: Rest<Gives>): Promise<Answer>;
  /**
   * Called when `handle` has passed an exchange on and returned the rest's answer unchanged, if repeats may skip the stages. Returns a
   * replacement of `handle` for when a client sends the same bytes again: true lets the request through, false sends it through `handle`
   * after all. The replacement is synchronous, and consumes resources (such as a token of a rate limit) only if it returns true. Without
   * this hook, every request passes through all stages.
   */
  admitAgain?(exchange: Exchange<Needs>): AdmitAgain | undefined;
  /** Called when `handle` has answered by itself, if repeats may skip the stages. Returns how to give that answer again. */
  answerAgain?(exchange: Exchange<Needs>, answer: Answer): AnswerAgain | undefined;
  /** Handlers of routes in core/wire/routes-table through which others access the stage's data. */
  readonly routes?: ReadonlyMap<string, RouteHandler> | undefined;
}

/** A route defined by an endpoint plugin, in addition to those in core/wire/routes-table. */
export interface OwnRoute {
  /** Key of its handler in `routes`, and its metrics label `endpoint`. */
  readonly id: string;
  /** `/site/teams/{name}`, where `{name}` is a path parameter. */
  readonly path: string;
  /** GET by default; HEAD is accepted wherever GET is. */
  readonly methods?: readonly ('GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH' | 'OPTIONS')[];
  /** The main listener by default. Routes on the admin listener need `servesAdmin`, and the admin token if one is set. */
  readonly listener?: 'main' | 'admin';
}

/** Routes of an endpoint plugin: handlers by the id of one of its own routes or of a route in core/wire/routes-table. */
export interface Endpoint extends Lifecycle {
  readonly routes: ReadonlyMap<string, RouteHandler>;
  /** Handlers of WebSocket requests by route id; without one, such a request is answered like any other. */
  readonly upgrades?: ReadonlyMap<string, UpgradeHandler>;
}

/** One HTTP request for an endpoint plugin; parameters of URL and form are already merged. */
export interface HttpCall {
  readonly route: string;
  readonly method: string;
  readonly path: string;
  readonly pathParams: ReadonlyMap<string, string>;
  /** Query string and form parameters by name, each with all its values in order. */
  readonly params: ReadonlyMap<string, readonly string[]>;
  readonly caller: Caller;
  readonly signal: AbortSignal;
  /** Sends a request down the chain. With `isFinal: false` the answer is data, for callers that make their own body from it. */
  ask(request: ApiRequest, how?: Pick<ExchangeChange, 'isFinal'>): Promise<Answer>;
  /**
   * Like `ask`, for a request that only depends on this call and on configuration, and whose answer the handler returns unchanged: when a
   * client sends the same bytes again, a cached answer may be sent without calling the handler.
   */
  pass(request: ApiRequest): Promise<Answer>;
  /**
   * Reads the body of a route declared with `ignoresBody`; for other routes it has already been read for its parameters.
   * @throws ApiError `bodyTooLarge` above this number of bytes, `brokenBody` if it ends too early
   */
  readBody(maxBytes: number): Promise<Buffer>;
  /** The current time in nanoseconds since the epoch. A call that reads it may have another meaning when it is repeated. */
  nowNs(): bigint;
}
export type RouteHandler = (call: HttpCall) => Promise<Answer>;

/** A WebSocket request. `signal` aborts when the WebSocket is closed by either side. */
export interface UpgradeCall extends Omit<HttpCall, 'pass' | 'readBody'> {
  /** Completes the handshake, once. An error thrown before is an HTTP error; after it, the socket closes with 1011 and the text. */
  accept(): Promise<LiveSocket>;
}
/** Resolves when the handler is done; the WebSocket is then closed unless it already is. */
export type UpgradeHandler = (call: UpgradeCall) => Promise<void>;

/** An open WebSocket to a client. It is pinged every second; messages of the client are read and dropped. */
export interface LiveSocket {
  /** Number of bytes that the network has not accepted yet. */
  readonly bufferedBytes: number;
  /** Sends one text frame; resolves when the network has accepted it, rejects if the WebSocket is closed. */
  send(text: string): Promise<void>;
  /** Closes with a code and a reason, truncated to the protocol's limit, and aborts the call's signal. */
  close(code: number, reason: string): void;
  /** Destroys a connection whose client would not read a reason. */
  terminate(): void;
}

/** An option of a pipeline file, as seen by rules of plugins. */
export interface LintOption {
  readonly key: string;
  /** The value that the plugin will receive; undefined if it is not set and has no default. */
  readonly value: unknown;
  /** The value if it is a text; empty for any other value or none. */
  readonly text: string;
  /** False when the value is the default. */
  readonly isGiven: boolean;
  /** Name as the operator wrote it: `region`, `flag -region` or `environment variable REGION`. */
  readonly name: string;
  /** Both ways of setting it, for advice: `region (-region)`. */
  readonly ways: string;
  /** The value in the file, or the flag or variable that sets it; the plugin for a default. */
  readonly at: SourcePosition;
  /** The position of the part of the value at a path of keys and indices, as far as it exists in the file. */
  within(path: readonly (string | number)[]): SourcePosition;
}

/** A pipeline file, as seen by rules of plugins. */
export interface LintFile {
  /** An option of the plugin itself, by its key. */
  own(key: string): LintOption;
  /** An option of a section or of an enabled plugin, by its flag; undefined if the file has none. */
  flag(name: string): LintOption | undefined;
  /** The enabled stages in order: ids, and the names of their plugins. */
  readonly stages: readonly { readonly id: string; readonly plugin: string }[];
}

/** A finding of a plugin's rule. The message states the problem in one sentence without a full stop, `fix` the remedy. */
export interface LintFinding {
  /** Position of the finding; the plugin's entry by default. */
  readonly at?: SourcePosition;
  readonly message: string;
  readonly fix?: string | undefined;
}

/**
 * A rule about the options of a plugin, applied by the checker and at startup. Findings carry its id; for a site's plugin it is preceded by
 * the plugin's name: `only-prod/region`.
 */
export interface LintRule {
  readonly id: string;
  /** A few words, for tables of rules. */
  readonly title: string;
  /** An error prevents the start. */
  readonly severity: 'error' | 'warning';
  /** One paragraph: the problem, why it matters, how to fix it. */
  readonly docs: string;
  /** Inspects options, which may have findings of other rules. Must not create or open anything. */
  check(file: LintFile): readonly LintFinding[];
}

interface PluginBase<Kind, Options, Metrics extends MetricSpecs, Made> {
  readonly kind: Kind;
  /** Name without prefix; for a built-in, equal to its folder and schema file. */
  readonly name: string;
  /** One line for documentation and the checker. */
  readonly summary: string;
  /** `component` of its log records; its id by default (specification: log fields). */
  readonly component?: string;
  /** True if there can be only one instance in all processes that serve together; the pipeline is rejected with several workers. */
  readonly isSingle?: boolean;
  /** JSON schema of the options. Built-ins omit it: theirs is schemas/<name>.schema.json. */
  readonly schema?: object;
  /** Rules about its options that a schema cannot express. */
  readonly lint?: readonly LintRule[];
  readonly metrics?: Metrics;
  create(options: Options, host: Host<Metrics>): Made;
}

export interface StagePlugin<
  Options = unknown,
  Needs extends SlotName = SlotName,
  Gives extends SlotName = SlotName,
  Metrics extends MetricSpecs = MetricSpecs,
> extends PluginBase<'stage', Options, Metrics, Stage<Needs, Gives>> {
  readonly needs: readonly Needs[];
  readonly gives: readonly Gives[];
  readonly rest: RestUse;
  /** True if the chain gives the same answers without it; tests check this over the corpus. */
  readonly optional?: boolean;
  /** True if it answers from a cache, without the later stages. */
  readonly keepsAnswers?: boolean;
  /**
   * True if it may come after caching stages, which skip it on a hit: its effect only depends on the request, the tenant and its options.
   * The checker warns about other stages there.
   */
  readonly behindCaches?: boolean;
  /** True if it answers a route of the admin listener, whatever the options; the checker must know without creating the plugin. */
  readonly servesAdmin?: boolean;
}
export interface EndpointPlugin<
  Options = unknown,
  Metrics extends MetricSpecs = MetricSpecs,
> extends PluginBase<'endpoint', Options, Metrics, Endpoint> {
  /** True if any of its own routes is on the admin listener, whatever the options; the checker must know without creating the plugin. */
  readonly servesAdmin?: boolean;
  /** Its own routes. */
  readonly ownRoutes?: readonly OwnRoute[];
}
export type ServicePlugin<Options = unknown, Metrics extends MetricSpecs = MetricSpecs> = PluginBase<
  'service',
  Options,
  Metrics,
  Lifecycle
>;

/** Any plugin, as seen by the loader and the kernel: options are validated against its schema before `create`. */
// Methods are bivariant in TypeScript, so a concrete plugin is assignable to this without a cast.
export type Plugin = StagePlugin | EndpointPlugin | ServicePlugin;

/** Declares a stage, which handles exchanges on their way down and answers on their way up. */
export function defineStage<
  Options,
  const Needs extends SlotName = never,
  const Gives extends SlotName = never,
  const Metrics extends MetricSpecs = Record<never, never>,
>(
  plugin: Omit<StagePlugin<Options, Needs, Gives, Metrics>, 'kind'>,
): StagePlugin<Options, Needs, Gives, Metrics> {
  return { kind: 'stage', ...plugin };
}

/** Declares an endpoint plugin, which owns HTTP routes and may send requests down the chain. */
export function defineEndpoint<Options, const Metrics extends MetricSpecs = Record<never, never>>(
  plugin: Omit<EndpointPlugin<Options, Metrics>, 'kind'>,
): EndpointPlugin<Options, Metrics> {
  return { kind: 'endpoint', ...plugin };
}

/** Declares a service plugin, which runs beside the chain. */
export function defineService<Options, const Metrics extends MetricSpecs = Record<never, never>>(
  plugin: Omit<ServicePlugin<Options, Metrics>, 'kind'>,
): ServicePlugin<Options, Metrics> {
  return { kind: 'service', ...plugin };
}
