import type { HeldPermit } from '../../base/admission/permit.js';
import { apiError } from '../../base/errors/table.js';
import type { CircuitBreaker, BreakerPermit } from '../../base/admission/circuit-breaker.js';
import {
  BackendHttp,
  throwIfEnded,
  type BackendAnswer,
  type BackendCall,
  type BackendOptions,
} from './exchange.js';
import { CallGate } from './gate.js';
import type { Owner } from '../../base/admission/fair-queue.js';

export type { BackendAnswer, BackendCall } from './exchange.js';

export interface ClientOptions extends BackendOptions {
  /** Notified when the number of running or waiting calls changes. */
  readonly onCalls?: (running: number, waiting: number) => void;
}

/** A call that is admitted now and made elsewhere. */
export interface AdmittedCall {
  readonly call: PlainCall;
  readonly backend: BackendOptions;
  /** Receives the state of the backend as shown by the head of the answer. */
  readonly breakerPermit: BreakerPermit;
  /** Ends the call. */
  readonly signal: AbortSignal;
}

/** A call as plain data. */
export type PlainCall = Omit<BackendCall, 'signal' | 'owner'>;

function plainOf(call: BackendCall): PlainCall {
  const { path, method, form, headers, statusRule, isJson, mayBePartial } = call;
  const others = mayBePartial === undefined ? {} : { mayBePartial };
  return { path, method, form, headers, statusRule, isJson, ...others };
}

const noVerdict: BreakerPermit = {
  succeed: () => undefined,
  fail: () => undefined,
  release: () => undefined,
};
const noPermit: HeldPermit = { pause: () => () => undefined, leave: () => undefined };
const noOwner: Owner = [''];
const maxWaitingCalls = 10_000;

/** Makes calls to VictoriaLogs, with limited concurrency, and none while the circuit breaker is open. Errors are ApiError. */
export class BackendClient {
  readonly #backend: BackendOptions;
  readonly #http: BackendHttp;
  readonly #breaker: CircuitBreaker;
  readonly #gate: CallGate;

  constructor({ onCalls, ...backend }: ClientOptions, breaker: CircuitBreaker) {
    this.#backend = backend;
    this.#http = new BackendHttp(backend);
    this.#breaker = breaker;
    this.#gate = new CallGate({
      limit: backend.maxConcurrent,
      waitMs: backend.timeoutMs,
      nowMs: () => performance.now(),
      maxWaiting: maxWaitingCalls,
      full: (limit, waiting) => apiError('tooManyCalls', { limit, waiting }),
      onChange: onCalls ?? (() => undefined),
    });
  }

  /**
   * Sends a call and waits for the head of its answer.
   * @throws ApiError with the statuses of docs/protocol/errors-and-limits.md#error-body
   */
  async call(call: BackendCall): Promise<BackendAnswer> {
    throwIfEnded(call.signal);
    const isLook = call.isProbe === true;
    const permit = isLook || call.liveWithinMs !== undefined ? noPermit : await this.#enter(call);
    try {
      const breakerPermit = isLook ? noVerdict : this.#breaker.admit();
      return await this.#http.exchange(call, breakerPermit, permit);
    } catch (error) {
      permit.leave();
      throw error;
    }
  }

  /** As `call`, for a call that is made elsewhere, such as in another thread. It ends when its parts end. */
  async *callBy<Part>(
    call: BackendCall,
    make: (admitted: AdmittedCall) => AsyncIterable<Part>,
  ): AsyncGenerator<Part> {
    throwIfEnded(call.signal);
    const permit = await this.#enter(call);
    let breakerPermit = noVerdict;
    try {
      breakerPermit = this.#breaker.admit();
      yield* make({ call: plainOf(call), backend: this.#backend, breakerPermit, signal: call.signal });
    } catch (error) {
      throwIfEnded(call.signal);
      throw error;
    } finally {
      breakerPermit.release();
      permit.leave();
    }
  }

  async #enter({ owner = noOwner, signal }: BackendCall): Promise<HeldPermit> {
    try {
      return await this.#gate.enter(owner, signal);
    } catch (error) {
      throwIfEnded(signal);
      throw error;
    }
  }

  /** Closes all connections; calls in flight fail. */
  close(): Promise<void> {
    this.#http.close();
    return Promise.resolve();
  }
}
