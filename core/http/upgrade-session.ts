import { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket, WebSocketServer } from 'ws';
import type { EncodedAnswer } from '../wire/answer/types.js';
import type { Params } from '../wire/api/params/index.js';
import { apiError } from '../base/errors/table.js';
import { createExchange } from '../kernel/plugin/exchange.js';
import type { LiveSocket, UpgradeCall, UpgradeHandler } from '../kernel/plugin/contract.js';
import type { RequestRecord } from '../kernel/telemetry/request-log.js';
import type { ServingParts } from './admission.js';
import { clientErrorOf, encodeError } from './error-body.js';
import { securityHeaders } from './security-headers.js';
import { Rounds } from '../base/pace/rounds.js';
import { startTimer } from '../base/time/waits.js';

type SessionParts = ServingParts & { readonly server: WebSocketServer };

/** One WebSocket request: its handshake and, once accepted, its WebSocket. */
export class UpgradeSession {
  readonly #parts: SessionParts;
  readonly #record: RequestRecord;
  readonly #handshake: Handshake;
  readonly #controller = new AbortController();
  #socket: UpgradedSocket | undefined;
  #isAnswered = false;
  /** Timeout until the handshake is answered. */
  #deadline: NodeJS.Timeout | undefined;

  constructor(
    parts: SessionParts,
    record: RequestRecord,
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
  ) {
    this.#parts = parts;
    this.#record = record;
    this.#handshake = new Handshake(request, socket, head, () => this.gone());
  }

  /** Runs the handler to its end. An error before the handshake becomes the answer, one after it the close reason. */
  async serve(handler: UpgradeHandler, readParams: () => Params, path: string): Promise<void> {
    const bound = this.#parts.options.httpWriteTimeout;
    if (bound > 0)
      this.#deadline = startTimer(() => this.#controller.abort(apiError('queryTimeout', {})), bound);
    // A handler may be slow to notice that it was aborted.
    this.#controller.signal.addEventListener('abort', () => clearTimeout(this.#deadline));
    try {
      const params = readParams();
      this.#record.query = params.get('query')?.[0];
      await handler(this.#call(params, path));
      if (this.#socket === undefined) throw new Error('an upgrade handler returned without an answer');
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#socket?.close(1000, '');
      this.gone();
    }
  }

  /** Called when the client has left. */
  gone(): void {
    this.#controller.abort(apiError('clientGone', {}));
  }

  /** Called when the process stops. */
  stop(): void {
    const reason = apiError('stopping', {});
    // Before the close, which would abort the signal as if the client had left.
    this.#controller.abort(reason);
    this.#socket?.close(goingAway, reason.message);
  }

  /** Closes the connection without a close message. */
  cut(): void {
    this.#handshake.destroy();
  }

  #call(params: Params, path: string): UpgradeCall {
    const { run, clock } = this.#parts;
    const { signal } = this.#controller;
    const { id, method, requestType: route, caller, trace } = this.#record;
    return {
      route,
      method,
      path,
      pathParams: new Map(),
      params,
      caller,
      signal,
      ask: (request, { isFinal = true } = {}) =>
        run(createExchange({ id, request, caller, signal, trace, isFinal })),
      nowNs: () => clock.nowNs(),
      accept: () => this.#accept(),
    };
  }

  async #accept(): Promise<LiveSocket> {
    this.#controller.signal.throwIfAborted();
    if (this.#isAnswered) throw new Error('an upgrade handler accepted twice');
    this.#isAnswered = true;
    clearTimeout(this.#deadline);
    const { server, hide } = this.#parts;
    const socket = new UpgradedSocket(await this.#handshake.accept(server), hide, () => this.gone());
    this.#socket = socket;
    this.#answered(101);
    // If the session was stopped in the meantime, there was no socket to close yet.
    if (this.#controller.signal.aborted) socket.close(goingAway, '');
    return socket;
  }

  #fail(error: unknown): void {
    const { options, hide } = this.#parts;
    const { signal } = this.#controller;
    const shown = clientErrorOf(error, signal);
    if (this.#socket !== undefined) {
      if (!signal.aborted) this.#socket.close(failed, shown.message);
      return;
    }
    this.#record.error = error;
    if (this.#isAnswered) {
      this.cut();
      this.#answered(499);
      return;
    }
    this.#isAnswered = true;
    clearTimeout(this.#deadline);
    this.#handshake.refuse(encodeError(shown, options.errorResponseMessageField, hide));
    this.#answered(shown.status);
  }

  #answered(status: number): void {
    const { observer, clock } = this.#parts;
    observer.finished(this.#record, status, clock.monotonicMs() - this.#record.startedMs);
    this.#record.trace.isWritten = true;
  }
}

/** Interval of pings, since proxies in between take silence for a dead connection. */
const pingMs = 1_000;
const pings = new Rounds(pingMs);
/** Number of unread bytes above which a client is neither pinged nor answered, which would only add more. */
const maxIdleBytes = 64 * 1024;
/** The protocol's limit for the bytes of a close reason. */
const maxReasonBytes = 123;

/** Close code: the server is stopping. */
const goingAway = 1001;
/** Close code: the server failed. */
export const failed = 1011;

/** One accepted WebSocket. `hide` removes secrets from close reasons; `onEnd` is called once, as soon as either side starts to close it. */
class UpgradedSocket implements LiveSocket {
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

/** Maximum number of bytes that a client may send before its handshake is answered; it has no reason to send any. */
const maxEarlyBytes = 16 * 1024;

/** A connection between its WebSocket request and the answer. */
class Handshake {
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
