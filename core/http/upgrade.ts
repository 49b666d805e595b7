import { ServerResponse, type IncomingMessage, type Server } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { WebSocketServer } from 'ws';
import type { Params } from '../wire/api/params/index.js';
import { apiError } from '../base/errors/table.js';
import type { ServerOptions } from '../base/options.gen.js';
import type { Clock } from '../base/clock.js';
import type { UpgradeHandler } from '../kernel/plugin/contract.js';
import type { Run } from '../kernel/chain.js';
import { RequestRecord, type RequestObserver } from '../kernel/telemetry/request-record.js';
import { asError, guardEvents } from '../base/guard-events.js';
import type { BrowserGuard } from './browser-guard.js';
import { callerOf } from './caller.js';
import { readUrlParams } from './form.js';
import type { OnThrow } from './guarded-server.js';
import { createGuardedWebSockets } from './guarded-web-sockets.js';
import { refuseBadHead } from './listener.js';
import { routeById, routeLabel, type Route } from '../wire/routes-table.js';
import { asksForWebSocket, Handshake } from './upgrade-handshake.js';
import { UpgradeSession } from './upgrade-session.js';

export interface UpgradeSettings {
  readonly options: Pick<ServerOptions, 'httpWriteTimeout' | 'errorResponseMessageField'>;
  /** Handlers by route id. */
  readonly handlers: ReadonlyMap<string, UpgradeHandler>;
  readonly guard: BrowserGuard;
  /** Removes secrets from error texts. */
  readonly hide: (text: string) => string;
  readonly run: Run;
  readonly observer: RequestObserver;
  readonly clock: Clock;
  readonly onThrow: OnThrow;
}

/** A larger client message closes the socket with 1009, since no route expects any. */
const maxMessageBytes = 4096;

interface Served {
  readonly route: Route;
  readonly handler: UpgradeHandler;
}

/** The WebSocket requests of a listener and the open WebSockets. */
export class Upgrades {
  readonly #settings: UpgradeSettings;
  readonly #byPath = new Map<string, Served>();
  readonly #sessions = new Set<UpgradeSession>();
  readonly #server: WebSocketServer;
  #isClosing = false;
  #onEmpty: (() => void) | undefined;

  constructor(settings: UpgradeSettings) {
    this.#settings = settings;
    this.#server = createGuardedWebSockets(
      {
        noServer: true,
        clientTracking: false,
        perMessageDeflate: false,
        autoPong: false,
        maxPayload: maxMessageBytes,
      },
      (error) => settings.onThrow(error, undefined),
    );
    for (const [id, handler] of settings.handlers) {
      const route = routeById.get(id);
      if (route === undefined)
        throw new Error(`a plugin upgrades the route "${id}", which is not in core/wire/routes-table`);
      for (const path of route.paths) this.#byPath.set(path, { route, handler });
    }
  }

  /** Number of WebSockets and handshakes that have not ended. */
  get open(): number {
    return this.#sessions.size;
  }

  /** Handles an upgrade request of a server; one without an upgrade handler is handled like any other request. */
  take(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const served = asksForWebSocket(request) ? this.#byPath.get(path) : undefined;
    const { onThrow } = this.#settings;
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
    for (const session of this.#sessions) session.stop();
    if (this.#sessions.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        for (const session of this.#sessions) session.cut();
        resolve();
      }, timeoutMs);
      this.#onEmpty = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #open(
    { route, handler }: Served,
    path: string,
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
  ): Promise<void> {
    const { clock, guard, observer, run, options, hide } = this.#settings;
    const record = new RequestRecord('GET', path, callerOf(request), clock.monotonicMs());
    record.route = routeLabel(route);
    record.requestType = route.id;
    observer.started(record);
    const session: UpgradeSession = new UpgradeSession({
      record,
      options,
      hide,
      run,
      nowNs: () => clock.nowNs(),
      accept: () => handshake.accept(this.#server),
      refuse: (answer) => handshake.refuse(answer),
      destroy: () => handshake.destroy(),
      onAnswered: (status) => {
        observer.finished(record, status, clock.monotonicMs() - record.startedMs);
        record.trace.isWritten = true;
      },
    });
    const handshake = new Handshake(request, socket, head, () => session.gone());
    this.#sessions.add(session);
    socket.once('close', () => {
      this.#sessions.delete(session);
      if (this.#sessions.size === 0) this.#onEmpty?.();
    });
    if (this.#isClosing) session.stop();
    const query = (request.url ?? '').slice(path.length + 1);
    const readParams = (): Params => {
      refuseBadHead(request);
      guard(route, record.caller);
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
