import type { WebSocket } from 'ws';
import type { EncodedAnswer } from '../wire/answer/types.js';
import type { Params } from '../wire/api/params/index.js';
import { apiError } from '../base/errors/table.js';
import type { ServerOptions } from '../base/options.gen.js';
import { createExchange } from '../kernel/plugin/exchange.js';
import type { LiveSocket, UpgradeCall, UpgradeHandler } from '../kernel/plugin/contract.js';
import type { Run } from '../kernel/chain.js';
import type { RequestRecord } from '../kernel/telemetry/request-record.js';
import { clientErrorOf, encodeError } from './error-body.js';
import { failed, goingAway, UpgradedSocket } from './upgrade-socket.js';

/** What a session does with its connection and tells of itself. */
export interface SessionParts {
  readonly record: RequestRecord;
  readonly options: Pick<ServerOptions, 'httpWriteTimeout' | 'errorResponseMessageField'>;
  readonly run: Run;
  /** Completes the handshake. */
  accept(): Promise<WebSocket>;
  /** Answers the request with an error instead. */
  refuse(answer: EncodedAnswer): void;
  destroy(): void;
  /** The request has its answer, with this status. */
  onAnswered(status: number): void;
}

/** One request for a WebSocket: its handshake, and the WebSocket when there comes one of it. */
export class UpgradeSession {
  readonly #parts: SessionParts;
  readonly #controller = new AbortController();
  #socket: UpgradedSocket | undefined;
  #isAnswered = false;
  /** Bounds the time until the handshake is answered. */
  #deadline: NodeJS.Timeout | undefined;

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  /** Runs the handler to its end. What it throws is the answer before the handshake, and the reason of a close after it. */
  async serve(handler: UpgradeHandler, readParams: () => Params, path: string): Promise<void> {
    const { record, options } = this.#parts;
    const bound = options.httpWriteTimeout;
    if (bound > 0)
      this.#deadline = setTimeout(() => this.#controller.abort(apiError('queryTimeout', {})), bound);
    // A handler may be slow to see that nobody waits for it any more.
    this.#controller.signal.addEventListener('abort', () => clearTimeout(this.#deadline));
    try {
      const params = readParams();
      record.query = params.get('query')?.[0];
      await handler(this.#call(params, path));
      if (this.#socket === undefined) throw new Error('a handler of upgrades ended without an answer');
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#socket?.close(1000, '');
      this.gone();
    }
  }

  /** The client is gone, or nobody wants it any more. */
  gone(): void {
    this.#controller.abort(apiError('clientGone', {}));
  }

  /** The process stops. */
  stop(): void {
    const reason = apiError('stopping', {});
    // Before the close, which ends the signal too, in the name of the client.
    this.#controller.abort(reason);
    this.#socket?.close(goingAway, reason.message);
  }

  /** Ends the connection without a word. */
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
      accept: () => this.#accept(),
    };
  }

  async #accept(): Promise<LiveSocket> {
    this.#controller.signal.throwIfAborted();
    if (this.#isAnswered) throw new Error('a handler of upgrades accepted twice');
    this.#isAnswered = true;
    clearTimeout(this.#deadline);
    const socket = new UpgradedSocket(await this.#parts.accept(), () => this.gone());
    this.#socket = socket;
    this.#parts.onAnswered(101);
    // Who stopped meanwhile could not close what was not there.
    if (this.#controller.signal.aborted) socket.close(goingAway, '');
    return socket;
  }

  #fail(error: unknown): void {
    const { record, options } = this.#parts;
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
    this.#parts.refuse(encodeError(shown, options.errorResponseMessageField));
    this.#parts.onAnswered(shown.status);
  }
}
