import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Context } from 'koa';
import { apiError } from '../base/errors/table.js';
import type { ServerOptions } from '../base/options.gen.js';
import type { connectionMetrics } from '../kernel/telemetry/metrics-table.js';
import type { Meters } from '../base/meters.js';
import type { Clock } from '../base/clock.js';
import { maxReadMs, quietMs } from './last-answer.js';

type Settings = Pick<
  ServerOptions,
  | 'httpConnMaxAge'
  | 'httpConnMaxAgeJitter'
  | 'httpConnMaxRequests'
  | 'httpConnMaxPipelined'
  | 'httpConnOverloadMaxAge'
>;
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
  /** Responses that have not ended: the one being sent, and those of requests pipelined behind it. */
  readonly open: ServerResponse[];
  /** Set when a request was refused because of too many others; its response is the last one. */
  refusal: Refusal | undefined;
}

interface Refusal {
  readonly response: ServerResponse;
  /** Requests that arrived after the refused one. */
  ignored: number;
}

/** Why a connection should end with a response. */
type Rotation = 'age' | 'requests' | 'overload' | 'pipelined';

/** Why a connection is ended without an answer. */
export type CutReason = 'pipelined' | 'unread' | 'certificate' | 'descriptors' | 'defect';

/** Tracks client connections: their state, their number of requests, and when to close one so that load moves to new replicas. */
export class Connections {
  readonly #bySocket = new Map<Socket, Connection>();
  readonly #counts: Record<State, number> = { active: 0, idle: 0 };
  /** Connections whose remaining input is read and discarded after a refusal. */
  readonly #refused = new WeakMap<Socket, { readonly end: NodeJS.Timeout; readonly untilMs: number }>();
  /** The last responses of connections on which broken input followed. */
  readonly #followedByBrokenInput = new WeakSet<ServerResponse>();
  #isDraining = false;
  readonly #levels: Readonly<Record<State, { set(value: number): void }>>;
  readonly #transitions: Readonly<Record<State, { add(value: number): void }>>;

  constructor(
    private settings: Settings,
    private readonly clock: Clock,
    private readonly meters: Meters<typeof connectionMetrics>,
    private readonly random: () => number = Math.random,
  ) {
    const { http_connections: levels, http_connection_transitions_total: transitions } = meters;
    this.#levels = { active: levels.of({ state: 'active' }), idle: levels.of({ state: 'idle' }) };
    this.#transitions = {
      active: transitions.of({ state: 'active' }),
      idle: transitions.of({ state: 'idle' }),
    };
  }

  /** Connections are held to other settings from now on. */
  use(settings: Settings): void {
    this.settings = settings;
  }

  /** Watches the connections of a server. */
  watch(server: Server, connectionEvent: 'connection' | 'secureConnection'): void {
    server.on(connectionEvent, (socket: Socket) => this.#opened(socket));
  }

  /** Registers a request until its response has closed. False for a request that must not be answered. */
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
    // No Set: the tables that it outgrows keep the responses of many requests alive, and the collector busy.
    open.push(response);
    this.#move(connection, 'active');
    response.once('close', () => {
      open.splice(open.indexOf(response), 1);
      if (open.length === 0 && this.#bySocket.has(socket)) this.#move(connection, 'idle');
    });
    return true;
  }

  /** Throws when the request arrived while too many others of its connection were unanswered. */
  refuseOver({ req, res }: Context): void {
    if (this.#bySocket.get(req.socket)?.refusal?.response === res)
      throw apiError('tooManyPipelined', { limit: this.settings.httpConnMaxPipelined });
  }

  /** Counts a connection that was closed before anything was read from it. */
  refused(reason: CutReason): void {
    this.meters.http_connections_cut_total.add(1, { reason });
  }

  /** Ends a connection without an answer. */
  cut(socket: Duplex, reason: CutReason): void {
    if (socket.destroyed) return;
    this.refused(reason);
    socket.destroy();
  }

  /**
   * Answers input that is not HTTP, with Node's default statuses. When no request is open, it keeps reading for a moment: closing the
   * connection under a client that is still sending would discard the answer.
   */
  refuseBroken(error: Error, socket: Socket): void {
    const reading = this.#refused.get(socket);
    if (reading !== undefined) {
      // Further input is broken, too, and Node reports each part of it here.
      if (this.clock.monotonicMs() < reading.untilMs) reading.end.refresh();
      return;
    }
    const open = [...(this.#bySocket.get(socket)?.open ?? [])];
    const last = open.at(-1);
    if (last?.req.complete === true) {
      // Broken input may follow complete requests, such as the undeclared body of a GET: those are answered first.
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
    const end = setTimeout(() => socket.destroy(), quietMs).unref();
    this.#refused.set(socket, { end, untilMs: this.clock.monotonicMs() + maxReadMs });
    if (open.length > 0) socket.destroy(error);
  }

  /** From now on every response asks its client to close the connection. */
  drain(): void {
    this.#isDraining = true;
  }

  /**
   * True when the response may be the same as the last one to the same bytes, because nothing stands before it: `open` when the connection
   * goes on, or why it should end with this response.
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

  /** Registers a request that was answered before anything else happened. */
  answeredAtOnce({ socket }: IncomingMessage): void {
    const connection = this.#bySocket.get(socket);
    if (connection === undefined) return;
    connection.requests += 1;
    this.#transitions.active.add(1);
    this.#transitions.idle.add(1);
  }

  /** True when the connection should close after the response to this request. */
  shouldClose(context: Context, status: number): boolean {
    if (this.#isDraining) return true;
    const connection = this.#bySocket.get(context.req.socket);
    if (connection === undefined) return false;
    const isRefused = connection.refusal?.response === context.res;
    const reason = isRefused ? 'pipelined' : this.#reasonToClose(connection, connection.requests, status);
    if (reason !== undefined) this.rotated(reason);
    return reason !== undefined;
  }

  /** @param requests the number of requests on the connection, with the one that is answered */
  #reasonToClose(connection: Connection, requests: number, status: number): Rotation | undefined {
    const { httpConnMaxAge, httpConnMaxRequests, httpConnOverloadMaxAge } = this.settings;
    const isOlder = (ms: number): boolean => this.clock.monotonicMs() - connection.openedMs >= ms;
    if (httpConnMaxRequests > 0 && requests >= httpConnMaxRequests) return 'requests';
    if (httpConnMaxAge > 0 && isOlder(connection.maxAgeMs)) return 'age';
    // A refusal for load is a sign of overload: an established client should find another replica.
    const isOverloaded = status === 429 || status === 503;
    if (isOverloaded && httpConnOverloadMaxAge > 0 && isOlder(httpConnOverloadMaxAge)) return 'overload';
    return undefined;
  }

  #opened(socket: Socket): void {
    const { httpConnMaxAge, httpConnMaxAgeJitter } = this.settings;
    const maxAgeMs = httpConnMaxAge + this.random() * httpConnMaxAgeJitter;
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

/** When a connection ends, Node only notifies the response being sent; queued ones would never learn of it. */
function closeQueued(response: ServerResponse): void {
  if (response.socket !== null) return;
  response.destroy();
  response.emit('close');
}
