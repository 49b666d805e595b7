import { WebSocket, WebSocketServer, type ServerOptions as WebSocketServerOptions } from 'ws';
import { asError } from '../base/guard-events.js';

/** Creates a WebSocket server on which an error thrown by a listener closes the socket. */
export function createGuardedWebSockets(
  options: WebSocketServerOptions,
  onThrow: (error: Error) => void,
): WebSocketServer {
  class GuardedWebSocket extends WebSocket {
    override emit(event: string | symbol, ...values: unknown[]): boolean {
      try {
        return super.emit(event, ...values);
      } catch (error) {
        onThrow(asError(error));
        this.terminate();
        return true;
      }
    }
  }
  return new WebSocketServer({ ...options, WebSocket: GuardedWebSocket });
}
