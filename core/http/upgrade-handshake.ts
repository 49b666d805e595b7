import { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket, WebSocketServer } from 'ws';
import type { EncodedAnswer } from '../wire/answer/types.js';
import { securityHeaders } from './security-headers.js';

/** Maximum number of bytes that a client may send before its handshake is answered; it has no reason to send any. */
const maxEarlyBytes = 16 * 1024;

/** True if a request asks for a WebSocket, as defined by RFC 6455. */
export function asksForWebSocket({ method, headers }: IncomingMessage): boolean {
  return (
    method === 'GET' &&
    headers.upgrade?.toLowerCase() === 'websocket' &&
    headers['sec-websocket-version'] === '13' &&
    /^[+/0-9A-Za-z]{22}==$/.test(headers['sec-websocket-key'] ?? '')
  );
}

/** A connection between its WebSocket request and the answer. */
export class Handshake {
  readonly #request: IncomingMessage;
  readonly #socket: Duplex;
  readonly #early: Buffer[];
  readonly #onGone: () => void;
  #earlyBytes: number;

  /** @param onGone called when the client leaves, before or after the answer */
  constructor(request: IncomingMessage, socket: Duplex, head: Buffer, onGone: () => void) {
    this.#request = request;
    this.#socket = socket;
    this.#early = [head];
    this.#earlyBytes = head.length;
    this.#onGone = onGone;
    socket.on('error', onGone);
    socket.once('close', onGone);
    // Reading is the only way to notice that the client has left.
    socket.on('data', this.#onData);
    socket.once('end', onGone);
  }

  accept(server: WebSocketServer): Promise<WebSocket> {
    this.#detach();
    return new Promise((resolve, reject) => {
      this.#socket.once('close', () => reject(new Error('the connection was closed during the handshake')));
      server.handleUpgrade(this.#request, this.#socket, Buffer.concat(this.#early), (socket) => {
        // A stream that was paused explicitly does not resume by itself.
        this.#socket.resume();
        resolve(socket);
      });
    });
  }

  /** Answers with an error instead of the handshake. */
  refuse(answer: EncodedAnswer): void {
    this.#detach();
    const headers = new Map<string, string>(Object.entries(securityHeaders));
    for (const [name, value] of answer.headers) headers.set(name, value);
    headers.set('Content-Type', answer.contentType);
    headers.set('Content-Length', String(answer.body.length));
    headers.set('Connection', 'close');
    const lines = [...headers].map(([name, value]) => `${name}: ${value}\r\n`).join('');
    const reason = STATUS_CODES[answer.status] ?? 'Error';
    this.#socket.write(`HTTP/1.1 ${answer.status} ${reason}\r\n${lines}\r\n`);
    this.#socket.end(answer.body);
    // Keeps reading until the client has the answer: a reset would discard it.
    this.#socket.resume();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #detach(): void {
    this.#socket.off('data', this.#onData);
    this.#socket.off('end', this.#onGone);
    this.#socket.pause();
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#early.push(chunk);
    this.#earlyBytes += chunk.length;
    if (this.#earlyBytes > maxEarlyBytes) this.#socket.destroy();
  };
}
