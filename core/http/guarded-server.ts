/**
 * Servers on which an error thrown by an event listener closes the connection that it was called for, and never ends the process. The
 * objects that Node creates for a connection are guarded on creation, so that code that adds listeners need not be aware of it.
 */
import {
  createServer,
  IncomingMessage,
  ServerResponse,
  type RequestListener,
  type Server,
  type ServerOptions,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { asError, guardEvents } from '../base/guard-events.js';

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
  options: ServerOptions,
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

/** Classes instead of patched methods: messages are many, and a patched method on each would slow down all of them. */
function guardedMessages(onThrow: OnThrow): ServerOptions {
  class GuardedRequest extends IncomingMessage {
    override emit(event: string | symbol, ...values: unknown[]): boolean {
      try {
        return super.emit(event, ...values);
      } catch (error) {
        onThrow(asError(error), this.socket);
        return true;
      }
    }
  }
  class GuardedResponse<Request extends IncomingMessage> extends ServerResponse<Request> {
    override emit(event: string | symbol, ...values: unknown[]): boolean {
      try {
        return super.emit(event, ...values);
      } catch (error) {
        onThrow(asError(error), this.req.socket);
        return true;
      }
    }
  }
  return { IncomingMessage: GuardedRequest, ServerResponse: GuardedResponse };
}
