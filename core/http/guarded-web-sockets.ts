import { WebSocket, WebSocketServer, type ServerOptions } from 'ws';
import { guardEvents } from '../base/guard-events.js';

// Apart from guarded servers, whose types plugins see: those of ws are a development dependency.

/** Creates a WebSocket server on which an error thrown by a listener closes the socket. */
export function createGuardedWebSockets(
  options: ServerOptions,
  onThrow: (error: Error) => void,
): WebSocketServer {
  class GuardedWebSocket extends WebSocket {}
  guardEvents(GuardedWebSocket.prototype, (error, _, socket) => {
    onThrow(error);
    socket.terminate();
  });
  return new WebSocketServer({ ...options, WebSocket: GuardedWebSocket });
}
