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

/** Callbacks by which a session acts on its connection and reports its progress. */
export interface SessionParts {
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
