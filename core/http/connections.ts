import type { Server, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Context } from 'koa';
import type { ServerOptions } from '../options/options.gen.js';
import type { Clock, Meters } from '../plugin/host.js';

/** Metrics of the connections of all listeners (spec: Metrics, Core). */
export const connectionMetrics = {
  http_connections: { type: 'gauge', help: 'Open client connections by state.', labels: ['state'] },
  http_connection_transitions_total: {
    type: 'counter',
    help: 'Changes of state of client connections.',
    labels: ['state'],
  },
  http_connection_rotations_total: {
    type: 'counter',
    help: 'Connections that a client was asked to close, by reason.',
    labels: ['reason'],
  },
} as const;

type Settings = Pick<
  ServerOptions,
  'httpConnMaxAge' | 'httpConnMaxAgeJitter' | 'httpConnMaxRequests' | 'httpConnOverloadMaxAge'
>;
type State = 'active' | 'idle';

interface Connection {
  readonly openedMs: number;
  readonly maxAgeMs: number;
  requests: number;
  state: State;
}

/** Follows client connections and decides when one should be closed, so that load finds new replicas. */
export class Connections {
  readonly #bySocket = new Map<Socket, Connection>();
  readonly #counts: Record<State, number> = { active: 0, idle: 0 };
  #isDraining = false;

  constructor(
    private readonly settings: Settings,
    private readonly clock: Clock,
    private readonly meters: Meters<typeof connectionMetrics>,
    private readonly random: () => number = Math.random,
  ) {}

  /** Watches the connections of a server. */
  watch(server: Server, connectionEvent: 'connection' | 'secureConnection'): void {
    server.on(connectionEvent, (socket: Socket) => this.#opened(socket));
    server.on('request', (request: IncomingMessage, response) => {
      const connection = this.#bySocket.get(request.socket);
      if (connection === undefined) return;
      connection.requests += 1;
      this.#move(connection, 'active');
      response.once('close', () => {
        if (this.#bySocket.has(request.socket)) this.#move(connection, 'idle');
      });
    });
  }

  /** From now on every response asks its client to close. */
  drain(): void {
    this.#isDraining = true;
  }

  /** Whether the response to this request should end its connection. */
  shouldClose(context: Context, status: number): boolean {
    if (this.#isDraining) return true;
    const connection = this.#bySocket.get(context.req.socket);
    if (connection === undefined) return false;
    const reason = this.#reasonToClose(connection, status);
    if (reason === undefined) return false;
    this.meters.http_connection_rotations_total.add(1, { reason });
    return true;
  }

  #reasonToClose(connection: Connection, status: number): 'age' | 'requests' | 'overload' | undefined {
    const { httpConnMaxAge, httpConnMaxRequests, httpConnOverloadMaxAge } = this.settings;
    const ageMs = this.clock.monotonicMs() - connection.openedMs;
    if (httpConnMaxRequests > 0 && connection.requests >= httpConnMaxRequests) return 'requests';
    if (httpConnMaxAge > 0 && ageMs >= connection.maxAgeMs) return 'age';
    // A refusal for load is the sign of overload: a client that is not new should find another replica.
    const isOverloaded = status === 429 || status === 503;
    if (isOverloaded && httpConnOverloadMaxAge > 0 && ageMs >= httpConnOverloadMaxAge) return 'overload';
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
    };
    this.#bySocket.set(socket, connection);
    this.#count('idle', 1);
    this.meters.http_connection_transitions_total.add(1, { state: 'new' });
    socket.once('close', () => {
      this.#bySocket.delete(socket);
      this.#count(connection.state, -1);
      this.meters.http_connection_transitions_total.add(1, { state: 'closed' });
    });
  }

  #move(connection: Connection, state: State): void {
    if (connection.state === state) return;
    this.#count(connection.state, -1);
    connection.state = state;
    this.#count(state, 1);
    this.meters.http_connection_transitions_total.add(1, { state });
  }

  #count(state: State, change: number): void {
    this.#counts[state] += change;
    this.meters.http_connections.set(this.#counts[state], { state });
  }
}
