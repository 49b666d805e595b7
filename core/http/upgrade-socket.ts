import type { WebSocket } from 'ws';
import { Rounds } from '../base/pace/rounds.js';
import type { LiveSocket } from '../kernel/plugin/contract.js';

/** How often a client is pinged; proxies in between take silence for a dead connection. */
const pingMs = 1_000;
const pings = new Rounds(pingMs);
/** A client that has this much to read yet is neither pinged nor answered: it would only have more. */
const maxIdleBytes = 64 * 1024;
/** Bytes of a close reason, by the protocol. */
const maxReasonBytes = 123;

/** Closed by the server because it stops. */
export const goingAway = 1001;
/** Closed by the server because of an error. */
export const failed = 1011;

/** One accepted WebSocket; `onEnd` is called once, as soon as either side begins to close it. */
export class UpgradedSocket implements LiveSocket {
  readonly #socket: WebSocket;
  readonly #endPings: () => void;
  readonly #onEnd: () => void;

  constructor(socket: WebSocket, onEnd: () => void) {
    this.#socket = socket;
    this.#onEnd = onEnd;
    this.#endPings = pings.join(() => {
      if (this.#isIdle()) socket.ping();
    });
    // Answered here and not by the library: who only pings and never reads would fill the memory.
    socket.on('ping', (data) => {
      if (this.#isIdle()) socket.pong(data);
    });
    socket.once('close', () => this.#end());
    // Whatever goes wrong with the connection closes it, which is all there is to do.
    socket.on('error', () => this.#end());
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedAmount;
  }

  send(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#socket.send(text, (error) => {
        if (error instanceof Error) reject(error);
        else resolve();
      });
    });
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, cut(reason));
    this.#end();
  }

  terminate(): void {
    this.#socket.terminate();
    this.#end();
  }

  #isIdle(): boolean {
    return this.#socket.readyState === this.#socket.OPEN && this.#socket.bufferedAmount < maxIdleBytes;
  }

  #end(): void {
    this.#endPings();
    this.#onEnd();
  }
}

/** The longest beginning that fits, without half a character at its end. */
function cut(reason: string): string {
  let text = reason;
  while (Buffer.byteLength(text) > maxReasonBytes) text = text.slice(0, -1);
  return /[\uD800-\uDBFF]$/.test(text) ? text.slice(0, -1) : text;
}
