/** Decides which requests a listener serves. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { LinkedQueue } from '../base/admission/fair-queue.js';
import type { Caller } from '../base/caller.js';
import type { Clock } from '../base/clock.js';
import { apiError } from '../base/errors/table.js';
import type { Logger } from '../base/logger.js';
import type { MemoryPool } from '../base/memory/account.js';
import type { Meters } from '../base/meters.js';
import type { ServerOptions } from '../base/options.gen.js';
import { settles } from '../base/time/within.js';
import type { Run } from '../kernel/chain.js';
import type { fastLaneMetrics } from '../kernel/telemetry/metrics-table.js';
import type { RequestObserver, RequestRecord } from '../kernel/telemetry/request-log.js';
import { headerNames, type HttpMethod, type ListenerName, type Route } from '../wire/routes-table.js';
import { connectionError } from './error-body.js';
import type { Connections, OnThrow } from './guarded-server.js';
import { startTimer } from '../base/time/waits.js';

/** Describes the caller from the connection and the request headers; `more` are headers that count unless the request has them itself. */
export function callerOf(request: IncomingMessage, more?: ReadonlyMap<string, string>): Caller {
  const own = headersOf(request);
  const headers = more === undefined ? own : new Map([...more, ...own]);
  const orgId = firstHeader(headers, headerNames.tenant);
  return {
    method: request.method ?? 'GET',
    address: plainAddress(request.socket.remoteAddress ?? ''),
    headers,
    orgId: orgId === '' ? undefined : orgId,
    categorizeLabels: listOf(firstHeader(headers, headerNames.encodingFlags)).includes('categorize-labels'),
    isDrilldown: listOf(firstHeader(headers, headerNames.queryTags).toLowerCase()).includes(
      'source=grafana-lokiexplore-app',
    ),
  };
}

/** Parsed from the raw headers, because Node's own header objects threw for a header named `__proto__` before 20.20.2 and 22.22.2. */
function headersOf({ rawHeaders }: IncomingMessage): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase();
    const value = rawHeaders[at + 1] ?? '';
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return headers;
}

/** The value of the first of these headers that is present, or an empty text. */
export function firstHeader(headers: ReadonlyMap<string, string>, names: readonly string[]): string {
  for (const name of names) {
    const value = headers.get(name);
    if (value !== undefined) return value;
  }
  return '';
}

function listOf(value: string): readonly string[] {
  return value.split(',').map((item) => item.trim());
}

/** Removes the ::ffff: prefix by which IPv4 clients of a dual-stack socket appear; logs and rate limits need 1.2.3.4. */
function plainAddress(address: string): string {
  return address.startsWith('::ffff:') ? address.slice(7) : address;
}

/**
 * Throws an ApiError for a request, of any kind, that a listener must not serve: one that another website may have triggered in a browser,
 * or one for an admin route without the admin token.
 */
export type Admission = (route: Route, caller: Caller) => void;

export function createAdmission(listener: ListenerName, options: ServerOptions): Admission {
  const guard = browserGuard(listener, options);
  const gate = adminGate(options.adminAuthToken);
  return (route, caller) => {
    guard(route, caller);
    if (route.listener === 'admin' && route.isOpen !== true) gate(caller);
  };
}

/**
 * Prevents other websites from sending requests through the browser of a user who can reach the proxy. Without a token, the admin listener
 * trusts every client that can reach it, so pages of other origins may not send any request there; elsewhere they may only read, as in Loki.
 */
function browserGuard(
  listener: ListenerName,
  { httpAllowedHosts, adminAllowedHosts }: ServerOptions,
): Admission {
  const isAdmin = listener === 'admin';
  const names = isAdmin ? adminAllowedHosts : listener === 'main' ? httpAllowedHosts : [];
  const allowed = new Set(names.map((name) => name.toLowerCase()));
  const flag = isAdmin ? '-ui.allowed-hosts' : '-http.allowed-hosts';
  const holdsHosts = isAdmin || allowed.size > 0;
  return (route, caller) => {
    if (holdsHosts) refuseOtherHosts(caller, allowed, flag);
    // The user interface itself may be opened by a link.
    if (changes(route, caller.method) || (isAdmin && route.isOpen !== true))
      refuseOtherOrigins(caller, allowed);
  };
}

const safe: ReadonlySet<string> = new Set<HttpMethod | 'HEAD'>(['GET', 'HEAD', 'OPTIONS']);

function changes({ readsByPost }: Route, method: string): boolean {
  return !safe.has(method) && readsByPost !== true;
}

/**
 * Rejects unknown host names. A page could have changed its DNS entry to this machine (DNS rebinding), and could then read the answers.
 * Addresses and localhost are safe.
 */
function refuseOtherHosts({ headers }: Caller, allowed: ReadonlySet<string>, flag: string): void {
  const name = hostName(headers.get('host') ?? '');
  const isKnown = name === '' || isIP(name) !== 0 || name === 'localhost' || name.endsWith('.localhost');
  if (!isKnown && !allowed.has(name)) throw apiError('hostNotAllowed', { host: name, flag });
}

/** Rejects requests of other origins. Clients other than browsers send neither of these headers; newer browsers send the first. */
function refuseOtherOrigins({ headers }: Caller, allowed: ReadonlySet<string>): void {
  const site = headers.get('sec-fetch-site');
  if (site === 'same-origin' || site === 'none') return;
  const origin = headers.get('origin');
  if (site === undefined && origin === undefined) return;
  const host = site === undefined && origin !== undefined ? hostOf(origin) : undefined;
  const isOwn =
    host !== undefined && (host === headers.get('host')?.toLowerCase() || allowed.has(hostName(host)));
  if (!isOwn) throw apiError('crossSiteRequest', {});
}

/** The host and port of an origin; undefined for an origin without one, such as `null`. */
function hostOf(origin: string): string | undefined {
  return /^https?:\/\/([^/]+)$/.exec(origin.toLowerCase())?.[1];
}

/** The name or address in a Host header, without port and without brackets. */
function hostName(header: string): string {
  const text = header.toLowerCase();
  const bracketed = /^\[([^\]]*)\](?::\d*)?$/.exec(text)?.[1];
  return bracketed ?? text.replace(/:\d*$/, '').replace(/\.$/, '');
}

/**
 * Checks that a caller may use admin and debug routes, or throws. Without a token, only the listener's address protects them
 * (docs/protocol/tenants.md#admin-token).
 */
function adminGate(token: string | undefined): (caller: Caller) => void {
  if (token === undefined) return () => undefined;
  const isToken = tokenTest(token);
  return (caller) => {
    const bearer = /^Bearer\s+(.+)$/i.exec(caller.headers.get('authorization') ?? '')?.[1] ?? '';
    const shown = firstHeader(caller.headers, headerNames.adminToken) || bearer;
    if (!isToken(shown)) throw apiError('adminAuthRequired', {});
  };
}

/** Makes a test for a token. Digests have equal lengths, so comparing them does not reveal the token's length. */
export function tokenTest(token: string): (shown: string) => boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  const wanted = digest(token);
  return (shown) => timingSafeEqual(digest(shown), wanted);
}

/** Requests or WebSockets that have not ended, which a shutdown waits for. */
export class InFlight<Value> {
  readonly #entries = new LinkedQueue<Value>();
  #idle: (() => void) | undefined;

  get count(): number {
    return this.#entries.size;
  }

  /** The values, which may be unregistered in the meantime. */
  get all(): readonly Value[] {
    return Array.from(this.#entries, ({ value }) => value);
  }

  /** Registers a request; the returned function unregisters it. */
  add(value: Value): () => void {
    const entries = this.#entries;
    const entry = entries.add(value);
    return () => {
      entries.remove(entry);
      if (entries.size === 0) this.#idle?.();
    };
  }

  /** Waits until no request is in flight, for at most `timeoutMs`; returns true if all have finished. */
  async drained(timeoutMs: number): Promise<boolean> {
    if (this.count === 0) return true;
    return settles(timeoutMs, new Promise<void>((resolve) => (this.#idle = resolve)));
  }
}

/** The parts of a served pipeline that its listeners share. */
export interface ServingParts {
  readonly options: ServerOptions;
  readonly run: Run;
  readonly memory: Pick<MemoryPool, 'open'>;
  readonly inFlight: InFlight<AbortController>;
  readonly connections: Connections;
  readonly observer: RequestObserver;
  readonly meters: Meters<typeof fastLaneMetrics>;
  readonly log: Logger;
  readonly clock: Clock;
  /** Removes secrets from error texts. */
  readonly hide: (text: string) => string;
  readonly onThrow: OnThrow;
}

/**
 * Registers a request until its response has ended or its client has left, and notifies the observers of both. Returns the controller that
 * ends the request early, which its timeout also uses.
 */
export function track(
  { socket }: Pick<IncomingMessage, 'socket'>,
  response: ServerResponse,
  record: RequestRecord,
  parts: ServingParts,
): AbortController {
  const { clock, observer } = parts;
  const controller = new AbortController();
  const leave = parts.inFlight.add(controller);
  observer.started(record);
  const endBound = limitTime(socket, controller, parts);
  // Kept here, because Node detaches the socket from a finished request.
  let isWhole = false;
  // Also emitted when the connection is destroyed with the rest of the answer still in its buffer.
  response.prependOnceListener('finish', () => (isWhole = !socket.destroyed));
  response.once('close', () => {
    endBound();
    const ended = isWhole ? undefined : connectionError(socket);
    if (ended !== undefined) {
      record.error ??= ended;
      controller.abort(ended);
    }
    leave();
    const status = ended?.status ?? response.statusCode;
    observer.finished(record, status, clock.monotonicMs() - record.startedMs);
  });
  return controller;
}

/** Time for a client to read the error of a request that timed out. */
const errorDeliveryMs = 1_000;

/** Ends the request after `-http-write-timeout`, and then its connection if the client still does not read the answer. */
function limitTime(
  socket: Socket,
  controller: AbortController,
  { options, connections }: ServingParts,
): () => void {
  const bound = options.httpWriteTimeout;
  if (bound === 0) return () => undefined;
  let timer = startTimer(() => {
    controller.abort(apiError('queryTimeout', {}));
    timer = startTimer(() => connections.cut(socket, 'unread'), errorDeliveryMs);
  }, bound);
  return () => clearTimeout(timer);
}
