import type { WebSocket } from 'ws';
import { Rounds } from '../base/pace/rounds.js';
import type { LiveSocket } from '../kernel/plugin/contract.js';

/** Interval of pings, since proxies in between take silence for a dead connection. */
const pingMs = 1_000;
const pings = new Rounds(pingMs);
/** Number of unread bytes above which a client is neither pinged nor answered, which would only add more. */
const maxIdleBytes = 64 * 1024;
/** The protocol's limit for the bytes of a close reason. */
const maxReasonBytes = 123;

/** Close code: the server is stopping. */
export const goingAway = 1001;
/** Close code: the server failed. */
export const failed = 1011;

/** One accepted WebSocket. `hide` removes secrets from close reasons; `onEnd` is called once, as soon as either side starts to close it. */
export class UpgradedSocket implements LiveSocket {
  readonly #socket: WebSocket;
  readonly #hide: (text: string) => string;
  readonly #endPings: () => void;
  readonly #onEnd: () => void;

  constructor(socket: WebSocket, hide: (text: string) => string, onEnd: () => void) {
    this.#hide = hide;
    this.#socket = socket;
    this.#onEnd = onEnd;
    this.#endPings = pings.join(() => {
      if (this.#isIdle()) socket.ping();
    });
    // Answered here instead of by the library: a client that sends pings and never reads would fill the memory.
    socket.on('ping', (data) => {
      if (this.#isIdle()) socket.pong(data);
    });
    socket.once('close', () => this.#end());
    // Any error closes the connection; nothing else needs to be done.
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
    this.#socket.close(code, cut(this.#hide(reason)));
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

/** The longest prefix that fits and does not split a character. */
function cut(reason: string): string {
  let text = reason;
  while (Buffer.byteLength(text) > maxReasonBytes) text = text.slice(0, -1);
  return /[\uD800-\uDBFF]$/.test(text) ? text.slice(0, -1) : text;
}
