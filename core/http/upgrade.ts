import { ServerResponse, type IncomingMessage, type Server } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { WebSocketServer } from 'ws';
import type { Params } from '../wire/api/params/index.js';
import { apiError } from '../base/errors/table.js';
import type { UpgradeHandler } from '../kernel/plugin/contract.js';
import { RequestRecord } from '../kernel/telemetry/request-log.js';
import { asError, guardEvents } from '../base/guard-events.js';
import { type Admission, callerOf, InFlight, type ServingParts } from './admission.js';
import { readUrlParams } from './serve-route.js';
import type { OnThrow } from './guarded-server.js';
import { createGuardedWebSockets } from './guarded-web-sockets.js';
import { refuseBadHead } from './listener.js';
import { routeLabel, headerNames, type ListenerName, type Route } from '../wire/routes-table.js';
import { UpgradeSession } from './upgrade-session.js';

/** A larger client message closes the socket with 1009, since no route expects any. */
const maxMessageBytes = 4096;

export interface ServedUpgrade {
  readonly route: Route;
  readonly handler: UpgradeHandler;
}

interface Admitted extends ServedUpgrade {
  readonly admit: Admission;
}

/** The WebSocket requests of all listeners and the open WebSockets. */
export class Upgrades {
  readonly #parts: ServingParts;
  readonly #byListener = new Map<ListenerName, ReadonlyMap<string, Admitted>>();
  readonly #sessions = new InFlight<UpgradeSession>();
  readonly #server: WebSocketServer;
  #isClosing = false;

  constructor(parts: ServingParts) {
    this.#parts = parts;
    this.#server = createGuardedWebSockets(
      {
        noServer: true,
        clientTracking: false,
        perMessageDeflate: false,
        autoPong: false,
        maxPayload: maxMessageBytes,
        handleProtocols: chosenProtocol,
      },
      (error) => parts.onThrow(error, undefined),
    );
  }

  /** Adds the routes of a listener. */
  serve(listener: ListenerName, upgrades: readonly ServedUpgrade[], admit: Admission): void {
    const byPath = new Map<string, Admitted>();
    for (const { route, handler } of upgrades)
      for (const path of route.paths) byPath.set(path, { route, handler, admit });
    this.#byListener.set(listener, byPath);
  }

  /** Number of WebSockets and handshakes that have not ended. */
  get open(): number {
    return this.#sessions.count;
  }

  /** Handles an upgrade request of a server; one without an upgrade handler is handled like any other request. */
  take(listener: ListenerName, server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const served = asksForWebSocket(request) ? this.#byListener.get(listener)?.get(path) : undefined;
    const { onThrow } = this.#parts;
    if (served === undefined) {
      answerPlainly(server, request, socket, onThrow);
      return;
    }
    this.#open(served, path, request, socket, head).catch((error: unknown) =>
      onThrow(asError(error), socket),
    );
  }

  /** Closes every WebSocket with 1001, rejects pending handshakes, and destroys what remains after `timeoutMs`. */
  async close(timeoutMs: number): Promise<void> {
    this.#isClosing = true;
    for (const session of this.#sessions.all) session.stop();
    if (await this.#sessions.drained(timeoutMs)) return;
    for (const session of this.#sessions.all) session.cut();
  }

  async #open(
    { route, handler, admit }: Admitted,
    path: string,
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
  ): Promise<void> {
    const { clock, observer } = this.#parts;
    // Only the page's own routes: elsewhere a header that a gateway takes away must stay away.
    const carried = route.listener === 'admin' ? carriedHeaders(request) : undefined;
    const record = new RequestRecord('GET', path, callerOf(request, carried), clock.monotonicMs());
    record.route = routeLabel(route);
    record.requestType = route.id;
    observer.started(record);
    const parts = { ...this.#parts, server: this.#server };
    const session = new UpgradeSession(parts, record, request, socket, head);
    socket.once('close', this.#sessions.add(session));
    if (this.#isClosing) session.stop();
    const query = (request.url ?? '').slice(path.length + 1);
    const readParams = (): Params => {
      refuseBadHead(request);
      admit(route, record.caller);
      return readUrlParams(query);
    };
    await session.serve(handler, readParams, path);
  }
}

/** Answers an upgrade to another protocol as a plain HTTP request. */
function answerPlainly(server: Server, request: IncomingMessage, socket: Duplex, onThrow: OnThrow): void {
  // Node's types allow any stream; its servers pass sockets.
  if (!(socket instanceof Socket)) {
    socket.destroy();
    return;
  }
  socket.on('error', () => socket.destroy());
  const response = new ServerResponse(request);
  guardEvents(response, (error) => onThrow(error, socket));
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once('finish', () => socket.end());
  const hasBody =
    request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
  if (hasBody) {
    // Node no longer reads the connection, so a body would never be read.
    const { message, status } = apiError('notWebSocket', {});
    response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' }).end(`${message}\n`);
    return;
  }
  server.emit('request', request, response);
}

/**
 * Headers in WebSocket sub-protocols: a page cannot set the headers of a WebSocket request, but it can offer sub-protocols. The sub-protocol
 * `ref-proxy.tenant.<value in base64url>` carries the header that `headerNames` lists under `tenant`.
 */

const prefix = 'ref-proxy.';
const namesByKey: ReadonlyMap<string, readonly string[]> = new Map(Object.entries(headerNames));

/** Decodes the headers in the sub-protocols of a request, without values that are invalid in a header. */
function carriedHeaders({ headers }: IncomingMessage): ReadonlyMap<string, string> {
  const carried = new Map<string, string>();
  for (const protocol of (headers['sec-websocket-protocol'] ?? '').split(',')) {
    const [, key = '', encoded = ''] = /^ref-proxy\.(\w+)\.([\w-]+)$/.exec(protocol.trim()) ?? [];
    const name = namesByKey.get(key)?.[0];
    // The bytes of a header, as Node reads them.
    const value = Buffer.from(encoded, 'base64url').toString('latin1');
    if (name !== undefined && /^[\x20-\x7E\x80-\xFF]+$/.test(value)) carried.set(name, value);
  }
  return carried;
}

/** The sub-protocol to answer with: the first that carries no header, since an answer must not repeat a secret; false for none. */
function chosenProtocol(offered: Iterable<string>): string | false {
  for (const protocol of offered) if (!protocol.startsWith(prefix)) return protocol;
  return false;
}

/** True if a request asks for a WebSocket, as defined by RFC 6455. */
function asksForWebSocket({ method, headers }: IncomingMessage): boolean {
  return (
    method === 'GET' &&
    headers.upgrade?.toLowerCase() === 'websocket' &&
    headers['sec-websocket-version'] === '13' &&
    /^[+/0-9A-Za-z]{22}==$/.test(headers['sec-websocket-key'] ?? '')
  );
}
