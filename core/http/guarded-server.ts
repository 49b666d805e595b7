/**
 * Servers on which an error thrown by an event listener closes the connection that it was called for, and never ends the process. The
 * objects that Node creates for a connection are guarded on creation, so that code that adds listeners need not be aware of it.
 */
import {
  createServer,
  IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions as NodeServerOptions,
  ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { Clock } from '../base/clock.js';
import { apiError } from '../base/errors/table.js';
import { guardEvents } from '../base/guard-events.js';
import type { Meters } from '../base/meters.js';
import type { ServerOptions } from '../base/options.gen.js';
import type { connectionMetrics } from '../kernel/telemetry/metrics-table.js';
import { maxReadMs, quietMs } from './last-answer.js';
import { startTimer } from '../base/time/waits.js';

type State = 'active' | 'idle';

const brokenStatuses: ReadonlyMap<string, string> = new Map([
  ['HPE_HEADER_OVERFLOW', '431 Request Header Fields Too Large'],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', '413 Payload Too Large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', '408 Request Timeout'],
]);

interface Connection {
  readonly openedMs: number;
  readonly maxAgeMs: number;
  requests: number;
  state: State;
  /** Responses that have not ended: the one being sent, and those of requests pipelined after it. */
  readonly open: ServerResponse[];
  /** Set when a request was rejected because of too many others; its response is the last one. */
  refusal: Refusal | undefined;
}

interface Refusal {
  readonly response: ServerResponse;
  /** Number of requests that arrived after the rejected one. */
  ignored: number;
}

/** The reason why a connection should end with a response. */
type Rotation = 'age' | 'requests' | 'overload' | 'pipelined';

/** The reason why a connection is closed without an answer. */
type CutReason = 'pipelined' | 'unread' | 'certificate' | 'descriptors' | 'defect';

/** A request with its response. */
interface Exchanged {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

/** Tracks client connections: their state, their number of requests, and when to close one so that load moves to new replicas. */
export class Connections {
  readonly #bySocket = new Map<Socket, Connection>();
  readonly #counts: Record<State, number> = { active: 0, idle: 0 };
  /** Connections whose remaining input is read and discarded after a rejection. */
  readonly #refused = new WeakMap<Socket, { readonly end: NodeJS.Timeout; readonly untilMs: number }>();
  /** The last responses on connections that later received invalid input. */
  readonly #followedByBrokenInput = new WeakSet<ServerResponse>();
  #isDraining = false;
  readonly #levels: Readonly<Record<State, { set(value: number): void }>>;
  readonly #transitions: Readonly<Record<State, { add(value: number): void }>>;

  constructor(
    private settings: ServerOptions,
    private readonly clock: Clock,
    private readonly meters: Meters<typeof connectionMetrics>,
  ) {
    const { http_connections: levels, http_connection_transitions_total: transitions } = meters;
    this.#levels = { active: levels.of({ state: 'active' }), idle: levels.of({ state: 'idle' }) };
    this.#transitions = {
      active: transitions.of({ state: 'active' }),
      idle: transitions.of({ state: 'idle' }),
    };
  }

  /** Applies other settings to all connections. */
  use(settings: ServerOptions): void {
    this.settings = settings;
  }

  watch(server: Server, connectionEvent: 'connection' | 'secureConnection'): void {
    server.on(connectionEvent, (socket: Socket) => this.#opened(socket));
  }

  /** Registers a request until its response has closed; false if it must not be answered. */
  admit({ socket }: IncomingMessage, response: ServerResponse): boolean {
    const connection = this.#bySocket.get(socket);
    // Node still delivers requests that were read before the connection ended.
    if (connection === undefined || socket.destroyed) return false;
    const { open, refusal } = connection;
    const { httpConnMaxPipelined } = this.settings;
    if (refusal !== undefined) {
      refusal.ignored += 1;
      if (refusal.ignored > httpConnMaxPipelined) this.cut(socket, 'pipelined');
      return false;
    }
    if (open.length >= httpConnMaxPipelined) connection.refusal = { response, ignored: 0 };
    connection.requests += 1;
    // Not a Set: when it grows, its old tables keep the responses of many requests alive and the garbage collector busy.
    open.push(response);
    this.#move(connection, 'active');
    response.once('close', () => {
      open.splice(open.indexOf(response), 1);
      if (open.length === 0 && this.#bySocket.has(socket)) this.#move(connection, 'idle');
    });
    return true;
  }

  /** Throws if the request arrived while too many others of its connection were unanswered. */
  refuseOver({ req, res }: Exchanged): void {
    if (this.#bySocket.get(req.socket)?.refusal?.response === res)
      throw apiError('tooManyPipelined', { limit: this.settings.httpConnMaxPipelined });
  }

  /** Counts a connection that was closed before anything was read from it. */
  refused(reason: CutReason): void {
    this.meters.http_connections_cut_total.add(1, { reason });
  }

  /** Closes a connection without an answer. */
  cut(socket: Duplex, reason: CutReason): void {
    if (socket.destroyed) return;
    this.refused(reason);
    socket.destroy();
  }

  /**
   * Answers input that is not HTTP, with Node's default statuses. If no request is open, it keeps reading for a moment: closing the
   * connection while the client is still sending would discard the answer.
   */
  refuseBroken(error: Error, socket: Socket): void {
    const reading = this.#refused.get(socket);
    if (reading !== undefined) {
      // Further input is invalid, too, and Node reports each part of it here.
      if (this.clock.monotonicMs() < reading.untilMs) reading.end.refresh();
      return;
    }
    const open = [...(this.#bySocket.get(socket)?.open ?? [])];
    const last = open.at(-1);
    if (last?.req.complete === true) {
      // Invalid input may follow complete requests, such as the undeclared body of a GET: those are answered first.
      if (this.#followedByBrokenInput.has(last)) return;
      this.#followedByBrokenInput.add(last);
      last.once('close', () => {
        if (!socket.destroyed) this.refuseBroken(error, socket);
      });
      return;
    }
    const hasBegun = open.some(({ headersSent }) => headersSent);
    const code = 'code' in error ? String(error.code) : '';
    if (socket.writable && !hasBegun)
      socket.end(`HTTP/1.1 ${brokenStatuses.get(code) ?? '400 Bad Request'}\r\nConnection: close\r\n\r\n`);
    const end = startTimer(() => socket.destroy(), quietMs).unref();
    this.#refused.set(socket, { end, untilMs: this.clock.monotonicMs() + maxReadMs });
    if (open.length > 0) socket.destroy(error);
  }

  /** From now on every response asks its client to close the connection. */
  drain(): void {
    this.#isDraining = true;
  }

  /**
   * Determines whether the response may repeat the last one to the same bytes, which requires that no other response is pending: `open` if
   * the connection stays open, or the reason why it should end with this response.
   */
  repeatable({ socket }: IncomingMessage, response: ServerResponse): 'open' | Rotation | undefined {
    const connection = this.#bySocket.get(socket);
    if (connection === undefined || socket.destroyed || this.#isDraining) return undefined;
    // A response without a socket waits for others.
    if (response.socket === null || connection.open.length > 0 || connection.refusal !== undefined)
      return undefined;
    return this.#reasonToClose(connection, connection.requests + 1, 200) ?? 'open';
  }

  /** Counts a response that ends its connection. */
  rotated(reason: Rotation): void {
    this.meters.http_connection_rotations_total.add(1, { reason });
  }

  /** Registers a request that was answered immediately. */
  answeredAtOnce({ socket }: IncomingMessage): void {
    const connection = this.#bySocket.get(socket);
    if (connection === undefined) return;
    connection.requests += 1;
    this.#transitions.active.add(1);
    this.#transitions.idle.add(1);
  }

  /** True if the connection should close after the response to this request. */
  shouldClose(context: Exchanged, status: number): boolean {
    if (this.#isDraining) return true;
    const connection = this.#bySocket.get(context.req.socket);
    if (connection === undefined) return false;
    const isRefused = connection.refusal?.response === context.res;
    const reason = isRefused ? 'pipelined' : this.#reasonToClose(connection, connection.requests, status);
    if (reason !== undefined) this.rotated(reason);
    return reason !== undefined;
  }

  /** @param requests number of requests on the connection, including this one */
  #reasonToClose(connection: Connection, requests: number, status: number): Rotation | undefined {
    const { httpConnMaxAge, httpConnMaxRequests, httpConnOverloadMaxAge } = this.settings;
    const isOlder = (ms: number): boolean => this.clock.monotonicMs() - connection.openedMs >= ms;
    if (httpConnMaxRequests > 0 && requests >= httpConnMaxRequests) return 'requests';
    if (httpConnMaxAge > 0 && isOlder(connection.maxAgeMs)) return 'age';
    // These statuses indicate overload: an established client should find another replica.
    const isOverloaded = status === 429 || status === 503;
    if (isOverloaded && httpConnOverloadMaxAge > 0 && isOlder(httpConnOverloadMaxAge)) return 'overload';
    return undefined;
  }

  #opened(socket: Socket): void {
    const { httpConnMaxAge, httpConnMaxAgeJitter } = this.settings;
    const maxAgeMs = httpConnMaxAge + Math.random() * httpConnMaxAgeJitter;
    const connection: Connection = {
      openedMs: this.clock.monotonicMs(),
      maxAgeMs,
      requests: 0,
      state: 'idle',
      open: [],
      refusal: undefined,
    };
    this.#bySocket.set(socket, connection);
    this.#count('idle', 1);
    this.meters.http_connection_transitions_total.add(1, { state: 'new' });
    socket.once('close', () => {
      this.#bySocket.delete(socket);
      for (const response of [...connection.open]) closeQueued(response);
      this.#count(connection.state, -1);
      this.meters.http_connection_transitions_total.add(1, { state: 'closed' });
    });
  }

  #move(connection: Connection, state: State): void {
    if (connection.state === state) return;
    this.#count(connection.state, -1);
    connection.state = state;
    this.#count(state, 1);
    this.#transitions[state].add(1);
  }

  #count(state: State, change: number): void {
    this.#counts[state] += change;
    this.#levels[state].set(this.#counts[state]);
  }
}

/** Emits the close of a queued response: when a connection ends, Node only notifies the response being sent. */
function closeQueued(response: ServerResponse): void {
  if (response.socket !== null) return;
  response.destroy();
  response.emit('close');
}

/** The TLS settings with their files read; undefined for plain HTTP. */
export interface TlsMaterial {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca?: Buffer;
  readonly requestCert: boolean;
  readonly rejectUnauthorized: boolean;
}

/** Closes the connection of a listener that threw; without a socket, the error was of the server itself. */
export type OnThrow = (error: Error, socket: Duplex | undefined) => void;

/** Creates a server that is not listening yet. */
export function createGuardedServer(
  handler: RequestListener,
  options: NodeServerOptions,
  tls: TlsMaterial | undefined,
  onThrow: OnThrow,
): Server {
  const messages = guardedMessages(onThrow);
  const server =
    tls === undefined
      ? createServer({ ...options, ...messages }, handler)
      : createTlsServer({ ...options, ...messages, ...tls }, handler);
  guardEvents(server, (error, values) => {
    for (const value of values) {
      const socket = value instanceof IncomingMessage ? value.socket : value;
      if (!(socket instanceof Duplex)) continue;
      onThrow(error, socket);
      return;
    }
    onThrow(error, undefined);
  });
  const guard = (socket: Socket): void => guardEvents(socket, (error) => onThrow(error, socket));
  server.on('connection', guard);
  if (tls !== undefined) server.on('secureConnection', guard);
  return server;
}

function guardedMessages(onThrow: OnThrow): NodeServerOptions {
  class GuardedRequest extends IncomingMessage {}
  class GuardedResponse<Request extends IncomingMessage> extends ServerResponse<Request> {}
  guardEvents(GuardedRequest.prototype, (error, _, { socket }) => onThrow(error, socket));
  guardEvents<ServerResponse>(GuardedResponse.prototype, (error, _, { req }) => onThrow(error, req.socket));
  return { IncomingMessage: GuardedRequest, ServerResponse: GuardedResponse };
}
