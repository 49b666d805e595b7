import type { WebSocket } from 'ws';
import type { EncodedAnswer } from '../wire/answer/types.js';
import type { Params } from '../wire/api/params/index.js';
import { apiError } from '../base/errors/table.js';
import type { ServerOptions } from '../base/options.gen.js';
import { createExchange } from '../kernel/plugin/exchange.js';
import type { LiveSocket, UpgradeCall, UpgradeHandler } from '../kernel/plugin/contract.js';
import type { Run } from '../kernel/chain.js';
import type { RequestRecord } from '../kernel/telemetry/request-log.js';
import { clientErrorOf, encodeError } from './error-body.js';
import { Rounds } from '../base/pace/rounds.js';

/** Callbacks by which a session acts on its connection and reports its progress. */
interface SessionParts {
  readonly record: RequestRecord;
  readonly options: Pick<ServerOptions, 'httpWriteTimeout' | 'errorResponseMessageField'>;
  /** Removes secrets from error texts. */
  readonly hide: (text: string) => string;
  readonly run: Run;
  readonly nowNs: () => bigint;
  accept(): Promise<WebSocket>;
  /** Answers the request with an error instead. */
  refuse(answer: EncodedAnswer): void;
  destroy(): void;
  /** Called when the request was answered, with the status. */
  onAnswered(status: number): void;
}

/** One WebSocket request: its handshake and, once accepted, its WebSocket. */
export class UpgradeSession {
  readonly #parts: SessionParts;
  readonly #controller = new AbortController();
  #socket: UpgradedSocket | undefined;
  #isAnswered = false;
  /** Timeout until the handshake is answered. */
  #deadline: NodeJS.Timeout | undefined;

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  /** Runs the handler to its end. An error before the handshake becomes the answer, one after it the close reason. */
  async serve(handler: UpgradeHandler, readParams: () => Params, path: string): Promise<void> {
    const { record, options } = this.#parts;
    const bound = options.httpWriteTimeout;
    if (bound > 0)
      this.#deadline = setTimeout(() => this.#controller.abort(apiError('queryTimeout', {})), bound);
    // A handler may be slow to notice that it was aborted.
    this.#controller.signal.addEventListener('abort', () => clearTimeout(this.#deadline));
    try {
      const params = readParams();
      record.query = params.get('query')?.[0];
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
    this.#parts.destroy();
  }

  #call(params: Params, path: string): UpgradeCall {
    const { record, run } = this.#parts;
    const { signal } = this.#controller;
    const { id, caller, trace } = record;
    return {
      route: record.requestType,
      method: record.method,
      path,
      pathParams: new Map(),
      params,
      caller,
      signal,
      ask: (request, { isFinal = true } = {}) =>
        run(createExchange({ id, request, caller, signal, trace, isFinal })),
      nowNs: this.#parts.nowNs,
      accept: () => this.#accept(),
    };
  }

  async #accept(): Promise<LiveSocket> {
    this.#controller.signal.throwIfAborted();
    if (this.#isAnswered) throw new Error('an upgrade handler accepted twice');
    this.#isAnswered = true;
    clearTimeout(this.#deadline);
    const socket = new UpgradedSocket(await this.#parts.accept(), this.#parts.hide, () => this.gone());
    this.#socket = socket;
    this.#parts.onAnswered(101);
    // If the session was stopped in the meantime, there was no socket to close yet.
    if (this.#controller.signal.aborted) socket.close(goingAway, '');
    return socket;
  }

  #fail(error: unknown): void {
    const { record, options, hide } = this.#parts;
    const { signal } = this.#controller;
    const shown = clientErrorOf(error, signal);
    if (this.#socket !== undefined) {
      if (!signal.aborted) this.#socket.close(failed, shown.message);
      return;
    }
    record.error = error;
    if (this.#isAnswered) {
      this.cut();
      this.#parts.onAnswered(499);
      return;
    }
    this.#isAnswered = true;
    clearTimeout(this.#deadline);
    this.#parts.refuse(encodeError(shown, options.errorResponseMessageField, hide));
    this.#parts.onAnswered(shown.status);
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
