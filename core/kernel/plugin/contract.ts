/**
 * The plugin contract: the kernel connects what `defineStage`, `defineEndpoint` and `defineService` declare, as the pipeline file says.
 * Plugins import it from `ref-proxy/plugin` (core/plugin).
 */
import type { Caller } from '../../base/caller.js';
import type { MetricSpecs } from '../../base/meters.js';
import type { Answer } from '../../wire/answer/types.js';
import type { ApiRequest } from '../../wire/api/request.js';
import type { SourcePosition } from '../pipeline/located.js';
import type { Exchange, ExchangeChange } from './exchange.js';
import type { AdmitAgain, AnswerAgain } from '../repeat.js';

export type { AdmitAgain, AnswerAgain } from '../repeat.js';
import type { Host, PurgeScope } from './host.js';
import type { SlotName } from './slots.js';

/** The number of times that a stage may run the rest of the chain for one exchange; the kernel enforces it. */
export type RestUse = 'never' | 'once' | 'maybe' | 'many';

/**
 * The rest of the chain after a stage. Without an argument it runs on the stage's own exchange; a derived exchange carries the slots that
 * the stage gives. May run as often as the stage's `rest` declares, also in parallel.
 */
export type Rest<Given extends SlotName = never> = (exchange: Exchange<Given>) => Promise<Answer>;

/** Life-cycle hooks, all optional. `create` opens nothing; `start` does. The kernel limits how long each may take. */
export interface Lifecycle {
  /** Opens what the plugin needs. Downstream plugins start first. */
  start?(signal: AbortSignal): Promise<void>;
  /** Why the plugin is not ready, as shown by /ready; undefined when it is. */
  ready?(): Promise<string | undefined> | string | undefined;
  /** Called on SIGHUP or when a watched file changed. An error is logged and the old state stays. */
  reload?(): Promise<void>;
  /** Empties caches, those of one tenant where its id is given. */
  purge?(scope: PurgeScope, tenantId?: string): Promise<void> | void;
  /** Closes what `start` opened, once in-flight requests have ended. Upstream plugins stop first. */
  stop?(): Promise<void>;
}

export interface Stage<Needs extends SlotName, Gives extends SlotName> extends Lifecycle {
  /** Answers an exchange, with the help of the rest of the chain. Throws ApiError for errors that the client should see. */
  handle(exchange: Exchange<Needs>, rest: Rest<Gives>): Promise<Answer>;
  /**
   * Asked, where it matters, after `handle` has passed an exchange on and returned the answer of the rest unchanged. Returns what takes the place of `handle`
   * when a client sends the same bytes again: true lets the request through, false sends it through `handle` after all. It runs
   * synchronously, and what it takes (such as a token of a rate limit) it takes only when it returns true. A stage without it makes
   * every request pass through all stages.
   */
  admitAgain?(exchange: Exchange<Needs>): AdmitAgain | undefined;
  /** Asked, where it matters, after `handle` has answered by itself: how it would give that answer again. */
  answerAgain?(exchange: Exchange<Needs>, answer: Answer): AnswerAgain | undefined;
  /** Handlers of routes of core/wire/routes-table under which others reach what the stage keeps. */
  readonly routes?: ReadonlyMap<string, RouteHandler> | undefined;
}

/** A route that an endpoint plugin defines, in addition to those of core/wire/routes-table. */
export interface OwnRoute {
  /** Its name in `routes` and its metrics label `endpoint`. */
  readonly id: string;
  /** `/site/teams/{name}`, where `{name}` is a path parameter. */
  readonly path: string;
  /** Default GET; HEAD is accepted wherever GET is. */
  readonly methods?: readonly ('GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH' | 'OPTIONS')[];
  /** Default main. Routes on the admin listener need `servesAdmin`, and the admin token when one is set. */
  readonly listener?: 'main' | 'admin';
}

/** Routes of an endpoint plugin: handlers by the id of one of its own routes or of core/wire/routes-table. */
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
   * Like `ask`, for a request that follows from this call and from configuration alone, and whose answer the handler returns as it is: when a
   * client sends the same bytes again, a kept answer may be given without asking the handler.
   */
  pass(request: ApiRequest): Promise<Answer>;
  /**
   * The body, of routes that are declared with `ignoresBody`: for others it has been read for its parameters.
   * @throws ApiError `bodyTooLarge` over so many bytes, `brokenBody` when it ends too soon
   */
  readBody(maxBytes: number): Promise<Buffer>;
  /** Nanoseconds since the epoch. A call that reads it may mean something else when it comes again. */
  nowNs(): bigint;
}
export type RouteHandler = (call: HttpCall) => Promise<Answer>;

/** A WebSocket request. `signal` aborts when the WebSocket ends, whoever closes it. */
export interface UpgradeCall extends Omit<HttpCall, 'pass' | 'readBody'> {
  /** Completes the handshake, once. An error thrown before is an HTTP error; after it, the socket closes with 1011 and the text. */
  accept(): Promise<LiveSocket>;
}
/** Resolves when the WebSocket is done; it is then closed unless it already is. */
export type UpgradeHandler = (call: UpgradeCall) => Promise<void>;

/** An open WebSocket to a client. It is pinged every second; messages of the client are read and dropped. */
export interface LiveSocket {
  /** Bytes that the network has not accepted yet. */
  readonly bufferedBytes: number;
  /** Sends one text frame; resolves when the network has accepted it, rejects when the WebSocket is closed. */
  send(text: string): Promise<void>;
  /** Closes with a code and a reason, cut to what the protocol allows, and aborts the call's signal. */
  close(code: number, reason: string): void;
  /** Destroys a connection whose client would not read a reason. */
  terminate(): void;
}

/** An option of a pipeline file, as rules of plugins look at it. */
export interface LintOption {
  readonly key: string;
  /** As the plugin will get it; undefined when nobody gives it and it has no default. */
  readonly value: unknown;
  /** The value of a text; empty for any other value and for none. */
  readonly text: string;
  /** False when the value is the default. */
  readonly isGiven: boolean;
  /** As the operator wrote it: `region`, `flag -region` or `environment variable REGION`. */
  readonly name: string;
  /** Both ways to set it, for advice: `region (-region)`. */
  readonly ways: string;
  /** The value in the file, or the flag or variable that gives it; its plugin for a default. */
  readonly at: SourcePosition;
  /** The part of the value that keys and indices lead to, as far as the file has it. */
  within(path: readonly (string | number)[]): SourcePosition;
}

/** A pipeline file, as rules of plugins look at it. */
export interface LintFile {
  /** An option of the plugin itself, by its key. */
  own(key: string): LintOption;
  /** An option of a section or of an enabled plugin, by its flag; undefined when the file has none. */
  flag(name: string): LintOption | undefined;
  /** The enabled stages in their order: ids, and the names of their plugins. */
  readonly stages: readonly { readonly id: string; readonly plugin: string }[];
}

/** A finding of a plugin's rule. The message says what is wrong in one sentence without a full stop, the fix what to do. */
export interface LintFinding {
  /** The entry of the plugin unless given. */
  readonly at?: SourcePosition;
  readonly message: string;
  readonly fix?: string;
}

/**
 * A rule about the options of a plugin, which the checker applies, and the start with it. Findings carry its id, those of a site's plugin
 * with the plugin's name before it: `only-prod/region`.
 */
export interface LintRule {
  readonly id: string;
  /** A few words, for tables of rules. */
  readonly title: string;
  /** An error refuses the start. */
  readonly severity: 'error' | 'warning';
  /** One paragraph: what is wrong, why it matters, what to do. */
  readonly docs: string;
  /** Looks at options that may have findings of other rules, and creates and opens nothing. */
  check(file: LintFile): readonly LintFinding[];
}

interface PluginBase {
  /** Bare name; for a built-in, the same as its folder and schema file. */
  readonly name: string;
  /** One line for docs and the checker. */
  readonly summary: string;
  /** `component` of its log records; its id unless given (specification: log fields). */
  readonly component?: string;
  /** True when there can be only one of it in all processes that serve together: with several workers the pipeline is refused. */
  readonly isSingle?: boolean;
  /** JSON schema of the options. Built-ins omit it: theirs is schemas/<name>.schema.json. */
  readonly schema?: object;
  /** Rules about its options that a schema cannot express. */
  readonly lint?: readonly LintRule[];
}

export interface StagePlugin<
  Options = unknown,
  Needs extends SlotName = SlotName,
  Gives extends SlotName = SlotName,
  Metrics extends MetricSpecs = MetricSpecs,
> extends PluginBase {
  readonly kind: 'stage';
  readonly needs: readonly Needs[];
  readonly gives: readonly Gives[];
  readonly rest: RestUse;
  /** True when the chain gives the same answers without it; tests check this over the corpus. */
  readonly optional?: boolean;
  /** True when it answers from what it has kept, without the stages behind it. */
  readonly keepsAnswers?: boolean;
  /**
   * True when it may stand behind stages that keep answers, which do without it when they answer: what it does follows from the request, the
   * tenant and its options alone. The checker warns of others there.
   */
  readonly behindCaches?: boolean;
  readonly metrics?: Metrics;
  create(options: Options, host: Host<Metrics>): Stage<Needs, Gives>;
}
export interface EndpointPlugin<
  Options = unknown,
  Metrics extends MetricSpecs = MetricSpecs,
> extends PluginBase {
  readonly kind: 'endpoint';
  /** True when any of its own routes is on the admin listener, whatever the options; the checker must know without creating the plugin. */
  readonly servesAdmin?: boolean;
  /** Paths of its own. */
  readonly ownRoutes?: readonly OwnRoute[];
  readonly metrics?: Metrics;
  create(options: Options, host: Host<Metrics>): Endpoint;
}
export interface ServicePlugin<
  Options = unknown,
  Metrics extends MetricSpecs = MetricSpecs,
> extends PluginBase {
  readonly kind: 'service';
  readonly metrics?: Metrics;
  create(options: Options, host: Host<Metrics>): Lifecycle;
}

/** Any plugin, as the loader and the kernel see it: options were validated against its schema before `create`. */
// Methods are bivariant in TypeScript, so a concrete plugin is assignable to this without a cast.
export type Plugin = StagePlugin | EndpointPlugin | ServicePlugin;

/** Declares a stage: it sees exchanges on their way down and answers on their way up. */
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

/** Declares an endpoint plugin: it owns HTTP routes and may ask the chain. */
export function defineEndpoint<Options, const Metrics extends MetricSpecs = Record<never, never>>(
  plugin: Omit<EndpointPlugin<Options, Metrics>, 'kind'>,
): EndpointPlugin<Options, Metrics> {
  return { kind: 'endpoint', ...plugin };
}

/** Declares a service plugin: something that lives beside the chain. */
export function defineService<Options, const Metrics extends MetricSpecs = Record<never, never>>(
  plugin: Omit<ServicePlugin<Options, Metrics>, 'kind'>,
): ServicePlugin<Options, Metrics> {
  return { kind: 'service', ...plugin };
}
